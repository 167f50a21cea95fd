module example.com/shop

go 1.24

require github.com/herald-im/herald/sdk-go v0.1.0

// In a clone, the SDK is next door. Elsewhere, remove this line and run `go get github.com/herald-im/herald/sdk-go`.
replace github.com/herald-im/herald/sdk-go => ../../sdk-go
