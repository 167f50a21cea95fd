package herald

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// readEvents yields the data of server-sent events (WHATWG HTML, section 9.2.6), and calls onLine for each line, also for
// heartbeats. An event that is incomplete at the end is dropped.
func readEvents(stream io.Reader, onLine func()) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		reader := bufio.NewReader(stream)
		var data [][]byte
		for {
			line, err := reader.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			onLine()
			line = bytes.TrimRight(line, "\r\n")
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(value, []byte(" ")))
			}
			if len(line) > 0 || len(data) == 0 {
				continue
			}
			if !yield(bytes.Join(data, []byte("\n")), nil) {
				return
			}
			data = nil
		}
	}
}
