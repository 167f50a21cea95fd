package herald

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

const probeTimeout = 2 * time.Second

// roundTrip makes one attempt, and returns the response when it begins. Only here, requests leave.
func (c *Client) roundTrip(request *http.Request) (*http.Response, *Error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.noResponse(request, err)
	}
	c.hasAnswered.Store(true)
	return response, nil
}

// noResponse is the failure of a request that got no response, or half of one.
func (c *Client) noResponse(request *http.Request, err error) *Error {
	var described *url.Error
	if errors.As(err, &described) {
		err = described.Err // the address is in our own text
	}
	if strings.Contains(err.Error(), "parse Location header") { // it quotes the address, which may be signed
		return c.notHerald(http.StatusFound)
	}
	if !c.hasAnswered.Load() && mayBeWrongScheme(err) && c.speaksOtherScheme(request.Context()) {
		return c.wrongScheme(err)
	}
	where := c.root
	if origin := request.URL.Scheme + "://" + request.URL.Host; !strings.HasPrefix(c.root+"/", origin+"/") {
		where = origin // of the store that keeps files; what follows may be a signature
	}
	if proxy := c.proxyOf(request); proxy != "" {
		where += " through the proxy " + proxy
	}
	failure := unreachableAt(where, reasonOf(err), err)
	failure.isUnsent = isUntrusted(err)
	return failure
}

func (c *Client) unreachable(why string, cause error) *Error {
	return unreachableAt(c.root, why, cause)
}

func unreachableAt(where, why string, cause error) *Error {
	return &Error{Code: ErrorCodeUnreachable, Detail: fmt.Sprintf("no response from %s: %s", where, why), cause: cause}
}

func (c *Client) wrongScheme(cause error) *Error {
	speaks := "HTTPS on this port, not plain HTTP"
	if strings.HasPrefix(c.root, "https:") {
		speaks = "plain HTTP on this port, not HTTPS"
	}
	failure := c.unreachable(fmt.Sprintf("the server speaks %s. Use %s instead", speaks, otherScheme(c.root)), cause)
	failure.isUnsent = true
	return failure
}

// speaksOtherScheme says whether a server answers with http for https, or https for http. The request has no key.
func (c *Client) speaksOtherScheme(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, otherScheme(c.root), nil)
	if err != nil {
		return false
	}
	response, err := c.http.Do(request)
	if err != nil {
		return isUntrusted(err)
	}
	response.Body.Close()
	return true
}

func otherScheme(root string) string {
	if rest, ok := strings.CutPrefix(root, "https:"); ok {
		return "http:" + rest
	}
	return "https:" + strings.TrimPrefix(root, "http:")
}

// mayBeWrongScheme says whether it is one of the failures that the wrong scheme leads to.
func mayBeWrongScheme(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		strings.Contains(err.Error(), "malformed HTTP")
}

func isUntrusted(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// reasonOf says in words why there is no response.
func reasonOf(err error) string {
	var errno syscall.Errno
	var name *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	case errors.As(err, &untrusted):
		return "its certificate is not trusted (" + untrusted.Err.Error() + "): SSL_CERT_FILE may name a file with its authority"
	case errors.As(err, &name) && name.IsNotFound:
		return "the host name is unknown"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the response was complete"
	}
	return err.Error()
}

// proxyOf names the proxy that a request goes through, and the variable that says so; "" if there is none.
func (c *Client) proxyOf(request *http.Request) string {
	find := http.ProxyFromEnvironment
	if transport, ok := c.http.Transport.(*http.Transport); ok {
		find = transport.Proxy
	} else if c.http.Transport != nil {
		return ""
	}
	if find == nil {
		return ""
	}
	proxy, err := find(request)
	if err != nil || proxy == nil {
		return ""
	}
	name := strings.ToUpper(request.URL.Scheme) + "_PROXY"
	for _, variable := range []string{name, strings.ToLower(name)} {
		if strings.Contains(os.Getenv(variable), proxy.Host) {
			return proxy.Host + " (from " + variable + ")"
		}
	}
	return proxy.Host
}
