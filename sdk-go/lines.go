package herald

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
)

const linesType = "application/x-ndjson"

// openLines makes a call whose request, if there is one, and answer are lines of JSON, for as long as that takes. It returns when
// the answer begins, which may be before everything is sent.
func (c *Client) openLines(ctx context.Context, method, address string, body io.Reader) (io.ReadCloser, error) {
	request, err := c.request(ctx, method, address, body)
	if err != nil {
		return nil, c.unreachable(err.Error(), err)
	}
	if body != nil {
		request.Header.Set("Content-Type", linesType)
	}
	return c.openStream(request, linesType)
}

func (c *Client) openStream(request *http.Request, mediaType string) (io.ReadCloser, error) {
	request.Header.Set("Accept", mediaType)
	response, failure := c.roundTrip(request)
	if failure != nil {
		return nil, failure
	}
	if isSuccess(response, mediaType) {
		return response.Body, nil
	}
	return nil, c.failed(response)
}

// failed returns what was wrong, as the body of a response says, and closes it.
func (c *Client) failed(response *http.Response) error {
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return c.noResponse(response.Request, err)
	}
	return c.failureOf(response, text)
}

// readLines yields the value on each line. A last line that does not end is a failure, unless it is empty.
func readLines[Line any](source io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		reader := bufio.NewReader(source)
		for {
			var line Line
			text, err := reader.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(bytes.TrimSpace(text)) == 0 {
				return
			}
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			if err == nil {
				err = json.Unmarshal(text, &line)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// toLines is a reader of values, one on each line. It takes the next one when the reader has taken the one before. Its values are
// taken by a goroutine of its own, which ends with the values, or at the first one after the reader is closed.
func toLines[Line any](lines iter.Seq[Line]) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		for line := range lines {
			text, err := encode(line)
			if err == nil {
				_, err = writer.Write(append(text, '\n'))
			}
			if err != nil {
				writer.CloseWithError(err)
				return
			}
		}
		writer.Close()
	}()
	return reader
}
