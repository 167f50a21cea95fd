package herald

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const jsonType = "application/json"

// call is one call of the API. Its path consists of identifiers, which are percent-encoded.
type call struct {
	method string
	path   []string
	query  query
	body   any
	prefer string
	// extra is how much longer than usual it may take.
	extra time.Duration
	// isSafe says that a POST is idempotent, as other methods are.
	isSafe bool
}

// do makes a call with its retries, and reads the answer into out. If that is nil, the answer must be empty.
func (c *Client) do(ctx context.Context, call call, out any) (http.Header, error) {
	address, err := c.address(call.path, call.query)
	if err != nil {
		return nil, err
	}
	var body []byte
	if call.body != nil {
		if body, err = encode(call.body); err != nil {
			return nil, fmt.Errorf("herald: the request: %w", err)
		}
	}
	var header http.Header
	isSafe := call.isSafe || call.method != http.MethodPost
	err = c.withRetries(ctx, isSafe, func(ctx context.Context) *Error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout+call.extra)
		defer cancel()
		response, text, failure := c.exchange(ctx, call, address, body)
		if failure != nil {
			return failure
		}
		header = response.Header
		isDone := response.StatusCode == http.StatusNoContent
		if out != nil {
			isDone = isSuccess(response, jsonType) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Unmarshal(text, out) == nil
		}
		if !isDone {
			return c.failureOf(response, text)
		}
		return nil
	})
	return header, err
}

// exchange makes one attempt, and reads the whole response, whatever its status.
func (c *Client) exchange(ctx context.Context, call call, address string, body []byte) (*http.Response, []byte, *Error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := c.request(ctx, call.method, address, reader)
	if err != nil {
		return nil, nil, c.unreachable(err.Error(), err)
	}
	if body != nil {
		request.Header.Set("Content-Type", jsonType)
	}
	if call.prefer != "" {
		request.Header.Set("Prefer", call.prefer)
	}
	response, failure := c.roundTrip(request)
	if failure != nil {
		return nil, nil, failure
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, c.noResponse(request, err)
	}
	return response, text, nil
}

func (c *Client) request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Admin-Api-Key", c.key())
	request.Header.Set("Accept", jsonType)
	request.Header.Set("User-Agent", "herald-go/"+Version)
	return request, nil
}

// isSuccess says whether a response is a successful one of this media type. A web page is none of a Herald server.
func isSuccess(response *http.Response, mediaType string) bool {
	given, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && given == mediaType && response.StatusCode >= 200 && response.StatusCode < 300
}

// encode writes JSON as it would be written by hand: < is < and not an escape.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// address makes the URL of a path. It fails for an empty identifier, and for "." and "..", which URL parsers take for steps, even
// if they are percent-encoded: the request would reach something else.
func (c *Client) address(path []string, query query) (string, error) {
	var text strings.Builder
	text.WriteString(c.root)
	for _, segment := range path {
		if segment == "" || segment == "." || segment == ".." {
			return "", fmt.Errorf("herald: the identifier %q cannot be part of a URL", segment)
		}
		text.WriteString("/" + url.PathEscape(segment))
	}
	return text.String() + query.encode(), nil
}

// query is a list of parameters: those that are empty are absent.
type query []parameter

type parameter struct {
	name   string
	values []string
}

func param(name, value string) parameter { return parameter{name, []string{value}} }

func numberParam(name string, value int) parameter {
	if value == 0 {
		return parameter{}
	}
	return param(name, strconv.Itoa(value))
}

func flagParam(name string, value bool) parameter {
	if !value {
		return parameter{}
	}
	return param(name, "true")
}

func timeParam(name string, value time.Time) parameter {
	if value.IsZero() {
		return parameter{}
	}
	return param(name, value.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// encode encodes each value of a list separately, so that commas within values differ from those between them (RFC 6570, 3.2.8).
func (q query) encode() string {
	var parts []string
	for _, parameter := range q {
		var values []string
		for _, value := range parameter.values {
			if value != "" {
				values = append(values, strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
			}
		}
		if len(values) > 0 {
			parts = append(parts, parameter.name+"="+strings.Join(values, ","))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}
