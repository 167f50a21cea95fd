// Package herald calls the admin API of a Herald server: it sends messages and system messages, changes and schedules them,
// keeps the directory of organizations, users and conversations, and reads what was delivered to whom.
//
//	client, err := herald.New(herald.Options{URL: "http://127.0.0.1:7070", Key: key})
//	sent, err := client.SendMessage(ctx, herald.SendMessageRequest{
//		OrganizationID: "acme",
//		SenderID:       "alice",
//		Message:        herald.NewMessage{CID: "general", Body: "Hello", ID: "hello:alice:1"},
//	})
//
// # Ids
//
// The id of a send says what is sent: the same id again sends nothing again, and returns the first answer. A send without an id
// gets a random one (see [NewID]), so the retries of one call are safe. To be safe across a restart of your program, too, compose
// the id of what you already have, such as order-placed:user-123:order-456: the event, whom it concerns, and which one it is.
//
// # Retries
//
// A call is retried after 429, and if it is idempotent, also after 500, 502, 503, 504, 507 or no response, with backoff and as
// Retry-After asks. Every send is idempotent. A context ends a call together with its retries.
package herald

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Version is the version of this module.
const Version = "0.1.0"

const (
	defaultRetries = 5
	defaultTimeout = 30 * time.Second
	// Go keeps two connections to a host, so that more goroutines than that would connect for each call.
	idleConnections = 100
)

// Options say which server to call, and how.
type Options struct {
	// URL is the address of the server, such as http://127.0.0.1:7070. Its path becomes a prefix of every path.
	URL string
	// Key is the API key. Whoever has it can do what it allows: keep it on servers.
	Key string
	// HTTPClient makes the calls; nil means one of our own. Redirects are never followed, and its Timeout is not used.
	HTTPClient *http.Client
	// Retries is how often a failed call is retried: 0 means 5 times, a negative number never.
	Retries int
	// Timeout is the time limit of one attempt: 0 means 30 s. Streams may take longer. A context limits a whole call.
	Timeout time.Duration
}

// Client calls the admin API with one key. It may be used by any number of goroutines.
type Client struct {
	root    string
	key     string
	http    *http.Client
	retries int
	timeout time.Duration
	backoff backoff
}

// New makes a client. It does not connect. It fails if the address or the key cannot be used.
func New(options Options) (*Client, error) {
	address, err := url.Parse(options.URL)
	if err != nil {
		return nil, fmt.Errorf("herald: the address of the server: %w", err)
	}
	if (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return nil, fmt.Errorf("herald: the address of the server must begin with http:// or https://, not be %q", options.URL)
	}
	if options.Key == "" {
		return nil, errors.New("herald: there is no API key")
	}
	root := address.Scheme + "://" + address.Host + strings.TrimRight(address.EscapedPath(), "/")
	client := &Client{root: root, key: options.Key, http: withoutRedirects(options.HTTPClient), backoff: defaultBackoff}
	client.retries = orDefault(options.Retries, defaultRetries)
	client.timeout = orDefault(options.Timeout, defaultTimeout)
	return client, nil
}

// String names the client by its server, without the key, so that a log of it holds no secret.
func (c Client) String() string { return "herald client of " + c.root }

// GoString is the same for %#v.
func (c Client) GoString() string { return c.String() }

func orDefault[T int | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return max(value, 0)
}

// withoutRedirects copies a client. A redirect would take the key, which is a header, to any address that it names.
func withoutRedirects(given *http.Client) *http.Client {
	client := http.Client{}
	if given != nil {
		client = *given
	} else if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		client.Transport = transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout = 0 // would end streams
	return &client
}

// Ptr returns a pointer to a value, for optional members of requests.
func Ptr[T any](value T) *T { return &value }
