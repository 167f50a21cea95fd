package herald

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	mostUnanswered = 16_384 // bytes
	// After so many streams in a row that nothing was answered on, something on the way holds the lines back.
	mostSilentStreams = 3
)

var appendPath = []string{"admin", "message", "append"}

// AppendToMessage appends text to a message that was sent with Open, or completes it, and returns the length of its text in code
// points. The same piece again changes nothing. A piece at another offset fails with [ErrorCodeAppendConflict], and the [Error] has
// the Length to go on from.
func (c *Client) AppendToMessage(ctx context.Context, piece AppendRequest) (int, error) {
	var answer AppendAnswer
	_, err := c.do(ctx, call{method: http.MethodPut, path: appendPath, body: piece}, &answer)
	return answer.Length, err
}

// Stream sends a message that is not complete, and returns a writer that adds to its text: write UTF-8 as it comes, then close it.
// What is written is told at once. A connection that breaks is made again with the retries of any call, and the text goes on where
// it was stored. When the context ends first, the message stays open, until ten minutes of silence complete it as it is.
func (c *Client) Stream(ctx context.Context, send SendMessageRequest) (*MessageWriter, error) {
	return c.stream(ctx, send, false)
}

// ResumeStream goes on with a message that an earlier [Client.Stream], such as that of a process that has died, began with the same
// Message.ID and content. Write the text again from its beginning: as much as is stored is left out, by its length alone.
func (c *Client) ResumeStream(ctx context.Context, send SendMessageRequest) (*MessageWriter, error) {
	if send.Message.ID == "" {
		return nil, errors.New("herald: to resume a message, its ID is needed")
	}
	return c.stream(ctx, send, true)
}

func (c *Client) stream(ctx context.Context, send SendMessageRequest, isResumed bool) (*MessageWriter, error) {
	address, err := c.address(appendPath, nil)
	if err != nil {
		return nil, err
	}
	send.Message.Open = true
	sent, err := c.SendMessage(ctx, send)
	if err != nil {
		return nil, err
	}
	w := &MessageWriter{client: c, ctx: ctx, address: address, isResumed: isResumed, ended: make(chan struct{})}
	w.piece = AppendRequest{OrganizationID: send.OrganizationID, SenderID: send.SenderID}
	w.piece.MessageAppend.ID = sent.ServerMID
	w.stored = utf8.RuneCountInString(send.Message.Body)
	w.changed.L = &w.mu
	go w.run()
	return w, nil
}

// MessageWriter adds to the text of a message (see [Client.Stream]). It may be used by several goroutines.
type MessageWriter struct {
	client    *Client
	ctx       context.Context
	address   string
	piece     AppendRequest
	isResumed bool
	ended     chan struct{}

	mu         sync.Mutex
	changed    sync.Cond
	stored     int    // code points
	rest       []byte // what is not known to be stored
	toLeaveOut int    // code points that are stored and still have to be written again
	silent     int    // streams in a row that nothing was answered on
	isEnding,
	isComplete bool
	err error
}

// ID is the server's id of the message.
func (w *MessageWriter) ID() string { return w.piece.MessageAppend.ID }

// Length is how long the text is that is stored, in Unicode code points.
func (w *MessageWriter) Length() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored
}

// Write adds text. It returns as soon as there is room for more, which is when all but 16 KiB are stored, or with what has ended the
// message early. A code point may be cut between two writes.
func (w *MessageWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isEnding {
		return 0, errors.New("herald: the message is closed")
	}
	w.rest = append(w.rest, text...)
	w.leaveOut()
	w.changed.Broadcast()
	for len(w.rest) > mostUnanswered && w.err == nil {
		w.changed.Wait()
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(text), nil
}

// Close completes the message. It returns when all of its text is stored, or with what has ended the message early.
func (w *MessageWriter) Close() error {
	w.mu.Lock()
	w.isEnding = true
	w.changed.Broadcast()
	w.mu.Unlock()
	<-w.ended
	return w.err
}

// run stores what is written until the message is complete. What a stream that breaks leaves unanswered is appended with a single
// call, from where the server says that the text ends; the next stream follows that.
func (w *MessageWriter) run() {
	stop := context.AfterFunc(w.ctx, w.tell)
	defer stop()
	var err error
	for err == nil && w.waitForMore(w.ctx, &lineStream{}) {
		if w.silent < mostSilentStreams {
			w.silent++
			w.stream()
		}
		err = w.appendRest()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !w.isComplete {
		err = context.Cause(w.ctx)
	}
	w.err = err
	w.changed.Broadcast()
	close(w.ended)
}

func (w *MessageWriter) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
}

// waitForMore waits until there is more to send than what the stream has sent, which answers make less, and returns false if there will
// not be.
func (w *MessageWriter) waitForMore(ctx context.Context, s *lineStream) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.isEnding && len(whole(w.rest)) <= s.sent && ctx.Err() == nil {
		w.changed.Wait()
	}
	return !w.isComplete && ctx.Err() == nil
}

// next makes the piece after what was sent of the text that is not stored. The caller holds the lock.
func (w *MessageWriter) next(sent int) (AppendRequest, error) {
	text := w.rest[sent:]
	if !w.isEnding {
		text = whole(text)
	}
	if !utf8.Valid(text) {
		return w.piece, errors.New("herald: the text is not UTF-8")
	}
	piece := w.piece
	piece.MessageAppend.Offset = w.stored
	piece.MessageAppend.Text = string(text)
	if w.isEnding {
		piece.MessageAppend.Done = Ptr(true)
	}
	return piece, nil
}

// note takes what is stored off the text. It returns its bytes, and false if the length is none that the text has. The caller holds
// the lock.
func (w *MessageWriter) note(length int) (int, bool) {
	size := 0
	for points := length - w.stored; points != 0; points-- {
		_, width := utf8.DecodeRune(w.rest[size:])
		if width == 0 || points < 0 {
			return 0, false
		}
		size += width
	}
	w.rest = w.rest[size:]
	w.stored = length
	w.changed.Broadcast()
	return size, true
}

// lineStream is what is known of the lines of one request. The writer's lock guards it.
type lineStream struct {
	sent, lines, answered int
	isLast                bool
	late                  *time.Timer
}

// stream sends lines until the stream ends. Why it does is told by the single append that follows.
func (w *MessageWriter) stream() {
	ctx, cancel := context.WithCancel(w.ctx)
	defer w.tell() // so that its lines end
	defer cancel()
	late := time.AfterFunc(w.client.timeout, cancel)
	defer late.Stop()
	s := &lineStream{late: late}
	lines := toLines(func(yield func(any) bool) {
		for !s.isLast && w.waitForMore(ctx, s) {
			line, err := w.nextLine(s)
			if err != nil || !yield(line) {
				return
			}
		}
	})
	defer lines.Close()
	body, err := w.client.openLines(ctx, http.MethodPut, w.address, lines)
	if err != nil {
		return
	}
	defer body.Close()
	for answer, err := range readLines[AppendAnswer](body) {
		if err != nil || !answer.Success || !w.noteAnswer(s, answer.Length) {
			return
		}
	}
}

func (w *MessageWriter) nextLine(s *lineStream) (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	piece, err := w.next(s.sent)
	if err != nil {
		return nil, err
	}
	if s.lines == s.answered {
		s.late.Reset(w.client.timeout)
	}
	said := piece.MessageAppend
	s.sent += len(said.Text)
	s.isLast = w.isEnding
	s.lines++
	if s.lines == 1 {
		return piece, nil
	}
	return AppendLine{Text: said.Text, Done: said.Done}, nil
}

// noteAnswer returns whether the stream goes on.
func (w *MessageWriter) noteAnswer(s *lineStream, length int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	size, isOurs := w.note(length)
	if !isOurs {
		return false
	}
	w.silent = 0
	s.sent -= size
	s.answered++
	s.late.Stop()
	if s.answered < s.lines {
		s.late.Reset(w.client.timeout)
	}
	w.isComplete = s.isLast && s.answered == s.lines
	return !w.isComplete
}

// appendRest appends what is left with single calls, from where the server says that the text ends.
func (w *MessageWriter) appendRest() error {
	for {
		w.mu.Lock()
		isDone := w.isComplete || (!w.isEnding && len(whole(w.rest)) == 0)
		piece, err := w.next(0)
		w.mu.Unlock()
		if isDone || err != nil {
			return err
		}
		length, err := w.client.AppendToMessage(w.ctx, piece)
		if isDone, err := w.noteAppend(piece, length, err); isDone || err != nil {
			return err
		}
	}
}

// noteAppend returns whether all that was to be appended is stored.
func (w *MessageWriter) noteAppend(piece AppendRequest, length int, err error) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := piece.MessageAppend
	var failure *Error
	switch {
	case err == nil:
		if _, isOurs := w.note(length); !isOurs {
			return false, fmt.Errorf("herald: the message %s has the length %d", said.ID, length)
		}
		w.isComplete = said.Done != nil
		return true, nil
	case !errors.As(err, &failure) || failure.Code != ErrorCodeAppendConflict:
		return false, err
	case failure.Length == said.Offset && said.Text == "":
		w.isComplete = true // all of it is there, and nothing fits any more: an earlier attempt has completed it
		return true, nil
	case failure.Length == said.Offset:
		return false, err
	}
	if _, isOurs := w.note(failure.Length); isOurs {
		return false, nil
	}
	if !w.isResumed || failure.Length < w.stored {
		return false, err
	}
	w.toLeaveOut += failure.Length - w.stored
	w.stored = failure.Length
	w.leaveOut()
	w.changed.Broadcast()
	return false, nil
}

// leaveOut leaves out what is written again of the text that is stored. The caller holds the lock.
func (w *MessageWriter) leaveOut() {
	known := whole(w.rest)
	size := 0
	for ; w.toLeaveOut > 0 && size < len(known); w.toLeaveOut-- {
		_, width := utf8.DecodeRune(known[size:])
		size += width
	}
	w.rest = w.rest[size:]
}

// whole is a text without the beginning of a code point at its end.
func whole(text []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut <= len(text); cut++ {
		if begin := len(text) - cut; utf8.RuneStart(text[begin]) {
			if !utf8.FullRune(text[begin:]) {
				return text[:begin]
			}
			break
		}
	}
	return text
}

var _ io.WriteCloser = (*MessageWriter)(nil)
