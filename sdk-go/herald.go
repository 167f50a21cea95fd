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
// Retry-After asks: for 20 to 40 s, unless Options say otherwise. Every send is idempotent. A context ends a call together with its
// retries.
package herald

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Version is the version of this module.
const Version = "0.1.0"

const (
	// For 20 to 40 s, as a server needs up to 12 s to start again.
	defaultRetries = 9
	defaultTimeout = 30 * time.Second
	// Go keeps two connections to a host, so that more goroutines than that would connect for each call.
	idleConnections = 100
)

// Options say which server to call, and how.
type Options struct {
	// URL is the address of the server, such as http://127.0.0.1:7070. Its path becomes a prefix of every path.
	URL string
	// Key is the API key. Whoever has it can do what it allows: keep it on servers. White space around it is left out.
	Key string
	// HTTPClient makes the calls; nil means one of our own. Redirects are never followed, and its Timeout is not used.
	HTTPClient *http.Client
	// Retries is how often a failed call is retried: 0 means 9 times, which takes 20 to 40 s, and a negative number never.
	Retries int
	// Timeout is the time limit of one attempt, to the last byte of the response: 0 means 30 s. Streams may take longer. A context
	// limits a whole call, with the waits between its attempts.
	Timeout time.Duration
}

// Client calls the admin API with one key. It may be used by any number of goroutines.
type Client struct {
	root    string
	key     secret
	http    *http.Client
	retries int
	timeout time.Duration
	backoff backoff
	// hasAnswered says that a server has spoken HTTP with this scheme.
	hasAnswered atomic.Bool
}

// New makes a client. It does not connect. It fails if the address or the key cannot be used; the error does not contain the key.
func New(options Options) (*Client, error) {
	root, err := readAddress(options.URL)
	if err != nil {
		return nil, err
	}
	key, err := readSecret("the API key", options.Key)
	if err != nil {
		return nil, err
	}
	if options.Timeout < 0 {
		return nil, fmt.Errorf("herald: the timeout cannot be %v", options.Timeout)
	}
	client := &Client{root: root, key: key, http: withoutRedirects(options.HTTPClient), backoff: defaultBackoff}
	client.retries = orDefault(options.Retries, defaultRetries)
	client.timeout = orDefault(options.Timeout, defaultTimeout)
	return client, nil
}

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
