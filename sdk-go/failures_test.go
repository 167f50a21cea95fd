package herald

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func failing(t *testing.T, client *Client) *Error {
	t.Helper()
	client.backoff = backoff{least: time.Hour, most: time.Hour} // a retry would be noticed
	_, err := client.GetUser(t.Context(), "o", "u")
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("%v", err)
	}
	return failure
}

func TestTheWrongSchemeIsToldAtOnce(t *testing.T) {
	plain := httptest.NewServer(with(200, "{}"))
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(with(200, "{}"))
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	// What speaks TLS may also close the connection without a word, as Herald does.
	silent := listen(t, func(connection net.Conn) {
		tls.Server(connection, &tls.Config{Certificates: secure.TLS.Certificates}).Handshake()
	})
	for address, said := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1): "the server speaks plain HTTP on this port, not HTTPS. Use " + plain.URL + " instead",
		"http://" + silent: "the server speaks HTTPS on this port, not plain HTTP. Use https://" + silent + " instead",
	} {
		failure := failing(t, clientOf(t, address))
		if failure.Detail != "no response from "+address+": "+said || failure.IsUnknown() || failure.Code != ErrorCodeUnreachable {
			t.Errorf("%+v", failure)
		}
	}
	untrusted := failing(t, clientOf(t, secure.URL))
	if untrusted.IsUnknown() || !strings.Contains(untrusted.Detail, "its certificate is not trusted") || !strings.Contains(untrusted.Detail, "SSL_CERT_FILE") {
		t.Errorf("%+v", untrusted)
	}
}

// listen does this with each connection to the address that it returns.
func listen(t *testing.T, treat func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				treat(connection)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestAProxyThatIsGoneIsNamed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://user:s3cret@127.0.0.1:1")
	proxy, err := url.Parse("http://user:s3cret@127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	through := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	client, err := New(Options{URL: "http://herald.test", Key: "k", HTTPClient: through, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	const said = "no response from http://herald.test through the proxy 127.0.0.1:1 (from HTTP_PROXY): connection refused"
	if failure := failing(t, client); failure.Detail != said {
		t.Error(failure)
	}
}

func TestWhatWentWrongIsSaidInWords(t *testing.T) {
	for address, said := range map[string]string{
		"http://127.0.0.1:1":     "no response from http://127.0.0.1:1: connection refused",
		"http://nowhere.invalid": "no response from http://nowhere.invalid: the host name is unknown",
	} {
		client := clientOf(t, address)
		client.retries = 0
		if failure := failing(t, client); failure.Detail != said {
			t.Error(failure)
		}
	}
}

func TestAnAnswerThatIsNotOfAHeraldServerIsNoSuccess(t *testing.T) {
	page := with(200, `{"id":"u","ask":{"server_mid":"s"}}`, "Content-Type", "text/html")
	for _, foreign := range []http.HandlerFunc{page, with(200, "", "Content-Type", "application/json"), with(200, "null", "Content-Type", "application/json"),
		with(200, "[]", "Content-Type", "application/json"), with(200, `{"status":"ok"}`)} {
		server := answers(t, foreign)
		if _, err := server.SendMessage(t.Context(), envelope); CodeOf(err) != ErrorCodeNotHerald {
			t.Error(err)
		}
		if _, err := server.Metrics(t.Context()); CodeOf(err) != ErrorCodeNotHerald {
			t.Error(err)
		}
	}
	server := answers(t, page)
	for _, err := range server.SendBatch(t.Context(), func(func(Send) bool) {}, BatchOptions{}) {
		if CodeOf(err) != ErrorCodeNotHerald {
			t.Error(err)
		}
	}
	for _, err := range server.Events(t.Context(), "o", FeedOptions{}) {
		if CodeOf(err) != ErrorCodeNotHerald {
			t.Error(err)
		}
	}
	if _, err := server.ExportOrganization(t.Context(), "o"); CodeOf(err) != ErrorCodeNotHerald {
		t.Error(err)
	}
}

func TestATimeoutIsThatOfTheWholeAttemptWithItsHeadAndItsBody(t *testing.T) {
	for _, atOnce := range []int{0, 80} {
		const text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Padding: aaaaaaaaaaa\r\nContent-Length: 10\r\n\r\n{\"id\":\"u\"}"
		over := make(chan struct{})
		address := listen(t, func(connection net.Conn) {
			http.ReadRequest(bufio.NewReader(connection))
			io.WriteString(connection, text[:atOnce])
			for at := atOnce; at < len(text); at++ {
				select {
				case <-over:
					return
				case <-time.After(100 * time.Millisecond):
					io.WriteString(connection, text[at:at+1])
				}
			}
		})
		client, err := New(Options{URL: "http://" + address, Key: "k", Retries: -1, Timeout: 300 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if failure := failing(t, client); failure.Detail != "no response from http://"+address+": timed out" || !failure.IsUnknown() {
			t.Error(failure)
		}
		close(over)
	}
	if _, err := New(Options{URL: "http://x", Key: "k", Timeout: -1}); err == nil {
		t.Error("a negative timeout is accepted")
	}
}

func TestTheRetriesOutlastARestartOfTheServer(t *testing.T) {
	client, err := New(Options{URL: "http://x", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		var waited, longest time.Duration
		for retry := range client.retries {
			wait := client.backoff.wait(retry)
			waited, longest = waited+wait, max(longest, wait)
		}
		if waited < 19*time.Second || waited > 40*time.Second || longest > 8*time.Second {
			t.Errorf("%v, with a wait of %v", waited, longest)
		}
	}
}

func TestAStoreOfFilesThatIsGoneIsNamedWithoutTheSignatureOfTheAddress(t *testing.T) {
	for location, said := range map[string]string{
		"http://127.0.0.1:1/f?X-Amz-Signature=s3cret": "herald: no response from http://127.0.0.1:1: connection refused",
		"http://bucket:port/f?X-Amz-Signature=s3cret": "responded with 302, but not like a Herald server",
	} {
		server := answers(t, with(302, "", "Location", location))
		if _, err := server.Download(t.Context(), "f"); err == nil || !strings.HasSuffix(err.Error(), said) || strings.Contains(printed(err), "s3cret") {
			t.Error(err)
		}
	}
}

func TestConnectionsAreKeptAlsoAfterFailuresAndRedirects(t *testing.T) {
	var connections atomic.Int64
	var asked atomic.Int64
	elsewhere := answers(t, with(200, "bytes"))
	failed := problem(503, "unavailable", "Retry-After", "0")
	redirected := with(302, strings.Repeat("x", 1000), "Location", elsewhere.root+"/f")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/files/") {
			redirected(w, r)
		} else if asked.Add(1)%3 > 0 {
			failed(w, r)
		} else {
			with(201, ask)(w, r)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := clientOf(t, server.URL)
	for range 3 {
		if _, err := client.SendMessage(t.Context(), envelope); err != nil {
			t.Fatal(err)
		}
		file, err := client.Download(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, file)
		file.Close()
	}
	if made := connections.Load(); made != 1 || asked.Load() != 9 {
		t.Errorf("%d connections for %d requests", made, asked.Load())
	}
}
