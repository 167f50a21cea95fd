module github.com/herald-im/herald/sdk-go

go 1.24
