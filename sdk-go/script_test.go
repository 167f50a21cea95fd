package herald

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// answering is a server that gives these answers in order, and keeps what it was asked.
type answering struct {
	*Client
	mu    sync.Mutex
	asked []asked
}

type asked struct{ method, path, body, key, prefer string }

func answers(t *testing.T, handlers ...http.HandlerFunc) *answering {
	t.Helper()
	script := &answering{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		script.mu.Lock()
		number := len(script.asked)
		script.asked = append(script.asked, asked{r.Method, r.RequestURI, string(body), r.Header.Get("Admin-Api-Key"), r.Header.Get("Prefer")})
		script.mu.Unlock()
		if number >= len(handlers) {
			number = len(handlers) - 1
		}
		handlers[number](w, r)
	}))
	server.Config.SetKeepAlivesEnabled(false) // Go's transport repeats what fails on a connection that it used before
	server.Start()
	t.Cleanup(server.Close)
	script.Client = clientOf(t, server.URL+"/base/")
	return script
}

// seen returns what the server was asked until now.
func (a *answering) seen() []asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// clientOf makes a client that does not wait long before it retries.
func clientOf(t *testing.T, url string) *Client {
	t.Helper()
	client, err := New(Options{URL: url, Key: "the-key"})
	if err != nil {
		t.Fatal(err)
	}
	client.backoff = backoff{least: time.Millisecond, most: time.Millisecond}
	return client
}

func with(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
		}
		for at := 0; at < len(headers); at += 2 {
			w.Header().Set(headers[at], headers[at+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func problem(status int, code string, headers ...string) http.HandlerFunc {
	body := `{"type":"/docs/errors#` + code + `","title":"t","status":0,"detail":"detail of ` + code +
		`","code":"` + code + `","request_id":"r1","errors":[{"pointer":"/message/cid","detail":"is missing"}]}`
	return with(status, body, append(headers, "X-Request-Id", "r1")...)
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

const ask = `{"ask":{"mid":"m","server_mid":"s","t":1}}`

var envelope = SendMessageRequest{OrganizationID: "o", SenderID: "u", Message: NewMessage{CID: "c", Body: "hi <&>"}}
