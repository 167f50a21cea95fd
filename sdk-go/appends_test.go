package herald

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// growing is a server of one open message, which breaks the connections that breaks says, before or after a line is stored.
type growing struct {
	*Client
	mu     sync.Mutex
	text   string
	isDone bool
	calls  []string
	breaks func() (before, after bool)
}

func growingServer(t *testing.T, breaks func() (before, after bool)) *growing {
	t.Helper()
	server := &growing{breaks: breaks}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /admin/message", func(w http.ResponseWriter, r *http.Request) {
		var send SendMessageRequest
		json.NewDecoder(r.Body).Decode(&send)
		if !send.Message.Open || send.Message.ID == "" {
			t.Errorf("%+v", send)
		}
		if server.text == "" {
			server.text = send.Message.Body
		}
		server.answer(w, 201, `{"ask":{"mid":"m","server_mid":"s","t":1}}`)
	})
	mux.HandleFunc("PUT /admin/message/append", server.append)
	started := httptest.NewServer(mux)
	t.Cleanup(started.Close)
	server.Client = clientOf(t, started.URL)
	return server
}

func (g *growing) answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func (g *growing) append(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex()
	g.mu.Lock()
	defer g.mu.Unlock()
	isStream := r.Header.Get("Content-Type") == linesType
	g.calls = append(g.calls, r.Header.Get("Content-Type"))
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	isFirst := true
	for g.scan(lines) {
		var piece AppendRequest
		var line AppendLine
		if isFirst {
			json.Unmarshal(lines.Bytes(), &piece)
			line = AppendLine{Text: piece.MessageAppend.Text, Done: piece.MessageAppend.Done}
			if length := utf8.RuneCountInString(g.text); piece.MessageAppend.Offset != length || g.isDone {
				problem, _ := json.Marshal(Problem{Status: 409, Code: ErrorCodeAppendConflict, Detail: "d", Length: Ptr(length)})
				g.answer(w, 409, string(problem))
				return
			}
			w.Header().Set("Content-Type", map[bool]string{true: linesType, false: jsonType}[isStream])
		} else {
			json.Unmarshal(lines.Bytes(), &line)
		}
		before, after := g.breaks()
		if before {
			panic(http.ErrAbortHandler)
		}
		g.text += line.Text
		g.isDone = g.isDone || line.Done != nil
		if after {
			panic(http.ErrAbortHandler)
		}
		answer, _ := json.Marshal(AppendAnswer{Success: true, Length: utf8.RuneCountInString(g.text)})
		w.Write(append(answer, '\n'))
		control.Flush()
		if isFirst = false; g.isDone {
			return
		}
	}
}

func (g *growing) scan(lines *bufio.Scanner) bool {
	g.mu.Unlock()
	defer g.mu.Lock()
	return lines.Scan()
}

func never() (bool, bool) { return false, false }

var grown = SendMessageRequest{OrganizationID: "o", SenderID: "u", Message: NewMessage{CID: "c", Body: "Hé "}}

func TestAStreamIsOneRequestAndItsTextIsWhatWasWritten(t *testing.T) {
	server := growingServer(t, never)
	writer, err := server.Stream(t.Context(), grown)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Repeat("one 👋 two é ", 3_000)
	for at := 0; at < len(said); at += 7 { // cuts code points, too
		if _, err := io.WriteString(writer, said[at:min(at+7, len(said))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if server.text != "Hé "+said || !server.isDone || writer.Length() != utf8.RuneCountInString(server.text) || writer.ID() != "s" {
		t.Errorf("%.100s, %v, %d", server.text, server.isDone, writer.Length())
	}
	if len(server.calls) != 1 || server.calls[0] != linesType {
		t.Error(server.calls)
	}
	if _, err := writer.Write([]byte("more")); err == nil || writer.Close() != nil {
		t.Error(err)
	}
}

func TestAStreamThatBreaksAnywhereGoesOnWhereItsTextWasStored(t *testing.T) {
	for range 30 {
		random := rand.New(rand.NewPCG(rand.Uint64(), 1))
		server := growingServer(t, func() (bool, bool) { return random.IntN(6) == 0, random.IntN(6) == 0 })
		writer, err := server.Stream(t.Context(), grown)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Repeat("one 👋 two é ", 200)
		for at := 0; at < len(said); at += 50 {
			io.WriteString(writer, said[at:min(at+50, len(said))])
		}
		if err := writer.Close(); err != nil || server.text != "Hé "+said || !server.isDone {
			t.Fatalf("%v, %v, %s", err, server.isDone, server.text)
		}
	}
}

func TestAStreamThatIsResumedLeavesOutWhatIsStored(t *testing.T) {
	const said = "one 👋👋 two"
	send := grown
	send.Message.ID = "answer-7"
	for _, stored := range []string{"", "one ", "one 👋", said} {
		for size := 1; size <= len(said); size++ {
			server := growingServer(t, never)
			server.text = send.Message.Body + stored
			for range 2 { // the second time, it is complete
				writer, err := server.ResumeStream(t.Context(), send)
				if err != nil {
					t.Fatal(err)
				}
				for at := 0; at < len(said); at += size {
					io.WriteString(writer, said[at:min(at+size, len(said))])
				}
				if err := writer.Close(); err != nil || server.text != send.Message.Body+said || !server.isDone {
					t.Fatalf("%v, %v, %s", err, server.isDone, server.text)
				}
			}
			writer, err := server.ResumeStream(t.Context(), send)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(writer, said+" more")
			if err := writer.Close(); CodeOf(err) != ErrorCodeAppendConflict {
				t.Error(err)
			}
		}
	}
	if _, err := growingServer(t, never).ResumeStream(t.Context(), grown); err == nil {
		t.Error("it was resumed without an id")
	}
}

func TestAStreamSaysWhatHasEndedIt(t *testing.T) {
	sent := with(201, `{"ask":{"mid":"m","server_mid":"s","t":1}}`)
	server := answers(t, sent, problem(404, "message_not_found"))
	writer, err := server.Stream(t.Context(), grown)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(writer, "x")
	if err := writer.Close(); CodeOf(err) != ErrorCodeMessageNotFound {
		t.Error(err)
	}
	if _, err := writer.Write([]byte("x")); err == nil {
		t.Error("it was written")
	}
	server = answers(t, sent, with(409, `{"status":409,"code":"append_conflict","detail":"d","length":9}`))
	writer, err = server.Stream(t.Context(), grown)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(writer, "x")
	var failure *Error
	if err := writer.Close(); !errors.As(err, &failure) || failure.Length != 9 {
		t.Error(err)
	}
	writer, err = growingServer(t, never).Stream(t.Context(), grown)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(writer, "\xff\xff\xff\xff")
	if err := writer.Close(); err == nil || CodeOf(err) != "" {
		t.Error(err)
	}
}
