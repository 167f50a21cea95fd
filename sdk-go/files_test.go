package herald

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAnUploadSendsTheBytesWithTheirTypeAndIsNotRepeated(t *testing.T) {
	types := make(chan string, 3)
	noted := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			types <- r.Header.Get("Content-Type")
			answer(w, r)
		}
	}
	file := `{"file_id":"f","name":"a b.txt","size":5,"content_type":"text/plain","sha256":"00","created_at":"2026-11-20T13:06:00.123Z"}`
	server := answers(t, noted(with(201, file)), noted(with(200, file)), noted(problem(507, "storage_full")))
	uploaded, err := server.Upload(t.Context(), "o", "a b.txt", "text/plain", strings.NewReader("hello"))
	if err != nil || uploaded.FileID != "f" || uploaded.Size != 5 || *uploaded.Sha256 != "00" {
		t.Fatalf("%+v, %v", uploaded, err)
	}
	if _, err := server.PutFile(t.Context(), "o", "f", "image/png", strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Upload(t.Context(), "o", "c", "image/png", strings.NewReader("x")); CodeOf(err) != ErrorCodeStorageFull {
		t.Fatal(err)
	}
	seen := server.seen()
	if len(seen) != 3 || seen[0].path != "/base/admin/organizations/o/files?name=a%20b.txt" || seen[0].body != "hello" ||
		seen[1].method != "PUT" || seen[1].path != "/base/admin/organizations/o/files/f" {
		t.Fatalf("%+v", seen)
	}
	if first, second := <-types, <-types; first != "text/plain" || second != "image/png" {
		t.Fatal(first, second)
	}
}

func TestAFileThatIsElsewhereIsDownloadedThereWithoutTheKey(t *testing.T) {
	bucket := answers(t, with(200, "bytes"), with(302, "", "Location", "/elsewhere"))
	server := answers(t, with(302, "", "Location", bucket.root+"/f?signed"))
	file, err := server.Download(t.Context(), "f/1")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if text, err := io.ReadAll(file); string(text) != "bytes" || err != nil {
		t.Fatal(string(text), err)
	}
	if _, err := server.Download(t.Context(), "f"); err == nil {
		t.Fatal("a second redirect is followed")
	}
	address, err := server.FileURL("f/1")
	if err != nil || !strings.HasSuffix(address, "/base/files/f%2F1") || server.seen()[0].path != "/base/files/f%2F1" {
		t.Fatal(address, err, server.seen())
	}
	if seen := bucket.seen(); len(seen) != 2 || seen[0].key != "" || seen[0].path != "/base/f?signed" {
		t.Fatalf("%+v", seen)
	}
}

func TestADownloadMayNameTheOrganizationOfTheFile(t *testing.T) {
	server := answers(t, with(200, "bytes"), with(302, "", "Location", "/f?signed"), with(200, "bytes"))
	for range 2 { // also where the bytes are elsewhere
		file, err := server.Download(t.Context(), "f/1", FromOrganization("a&b/c"))
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	seen := server.seen()
	if len(seen) != 3 || seen[0].path != "/base/files/f%2F1?organization=a%26b%2Fc" || seen[1].path != seen[0].path || seen[2].path != "/f?signed" {
		t.Fatalf("%+v", seen)
	}
}
