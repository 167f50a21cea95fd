// pack writes a module as a Go module proxy serves it: `go run pack.go <module's folder> <version> <licence> <proxy's folder>`.
// The same files give the same bytes.
package main

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: go run pack.go <folder> <version> <licence> <proxy>")
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

func pack(folder, version, licence, proxy string) error {
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	firstLine, _, _ := strings.Cut(string(mod), "\n")
	module := strings.TrimPrefix(firstLine, "module ")
	target := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	zipped, err := os.Create(filepath.Join(target, version+".zip"))
	if err != nil {
		return err
	}
	archive := zip.NewWriter(zipped)
	root := module + "@" + version + "/"
	// As Go does with a module that is a folder of a repository, it gets the licence of the repository.
	if err := add(archive, root+"LICENSE", licence); err != nil {
		return err
	}
	err = filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		return add(archive, root+filepath.ToSlash(name), file)
	})
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	info := fmt.Sprintf("{\"Version\":%q,\"Time\":%q}\n", version, time.Unix(0, 0).UTC().Format(time.RFC3339))
	for name, text := range map[string]string{version + ".mod": string(mod), version + ".info": info, "list": version + "\n"} {
		if err := os.WriteFile(filepath.Join(target, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func add(archive *zip.Writer, name, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	writer, err := archive.Create(name)
	if err != nil {
		return err
	}
	_, err = writer.Write(text)
	return err
}
