package herald

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

const (
	byteOrderMark = "\xef\xbb\xbf"
	// How much is kept of a line that does not end. No event is nearly as long.
	mostLineBytes = 16 << 20
)

// serverSent is an event of a stream, or only its id if data is empty.
type serverSent struct {
	id   string
	data []byte
}

// readEvents yields server-sent events (WHATWG HTML, section 9.2.6), and calls onLine for each line, also for heartbeats. An
// event that is incomplete at the end is dropped.
func readEvents(stream io.Reader, onLine func()) iter.Seq2[serverSent, error] {
	return func(yield func(serverSent, error) bool) {
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, mostLineBytes)
		lines.Split(eventLines())
		var data [][]byte
		var id string
		for isFirst := true; lines.Scan(); isFirst = false {
			onLine()
			line := lines.Bytes()
			if isFirst {
				line = bytes.TrimPrefix(line, []byte(byteOrderMark))
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			switch string(field) {
			case "data":
				data = append(data, bytes.Clone(bytes.TrimPrefix(value, []byte(" "))))
			case "id":
				id = string(bytes.TrimPrefix(value, []byte(" ")))
			}
			if len(line) > 0 {
				continue
			}
			event := serverSent{id, bytes.Join(data, []byte("\n"))}
			if (event.id != "" || len(event.data) > 0) && !yield(event, nil) {
				return
			}
			data, id = nil, ""
		}
		if err := lines.Err(); err != nil {
			yield(serverSent{}, err)
		}
	}
}

// eventLines splits lines that end with a line feed, a carriage return, or both. A line is complete with its carriage return,
// although a line feed may follow.
func eventLines() bufio.SplitFunc {
	followsReturn := false
	searched := 0 // of a line that has not ended
	return func(text []byte, _ bool) (int, []byte, error) {
		start := 0
		if followsReturn && len(text) > 0 {
			if text[0] == '\n' {
				start = 1
			}
			followsReturn = false
		}
		from := max(start, searched)
		found := bytes.IndexAny(text[from:], "\r\n")
		if found < 0 {
			searched = len(text) - start
			return start, nil, nil
		}
		end := from + found
		searched = 0
		followsReturn = text[end] == '\r'
		return end + 1, text[start:end], nil
	}
}
