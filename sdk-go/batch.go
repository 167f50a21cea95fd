package herald

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync/atomic"
)

// BatchOptions say how a batch is sent. The zero value sends it as fast as it is stored.
type BatchOptions struct {
	// Rate is how many are sent a second, at most; 0 means any number.
	Rate int
	// DryRun checks the sends: nothing is stored or sent.
	DryRun bool
}

// SendBatch sends many messages and system messages in one request, and yields the answer to each, in order and while it goes on.
// A refused send is an answer with a Problem; the others are sent. A send without an id gets a random one: give them ids to be
// able to send all again after a failure, which is yielded last; then nothing is sent twice.
//
// The sends are taken by another goroutine, as fast as the server stores them and no faster than the answers are read. If you stop
// reading, the batch is broken off, and the next send that is made is not taken.
func (c *Client) SendBatch(ctx context.Context, sends iter.Seq[Send], options BatchOptions) iter.Seq2[BatchAnswer, error] {
	return func(yield func(BatchAnswer, error) bool) {
		var sent atomic.Int64
		counted := func(yield func(Send) bool) {
			for send := range sends {
				sent.Add(1)
				if !yield(withID(send)) {
					return
				}
			}
		}
		lines := toLines(counted)
		defer lines.Close()
		c.readBatch(ctx, lines, options, sent.Load, yield)
	}
}

// SendBatchLines is SendBatch for lines that are written already: one JSON object each, with ids of their own.
func (c *Client) SendBatchLines(ctx context.Context, lines io.Reader, options BatchOptions) iter.Seq2[BatchAnswer, error] {
	return func(yield func(BatchAnswer, error) bool) {
		c.readBatch(ctx, lines, options, func() int64 { return 0 }, yield)
	}
}

func (c *Client) readBatch(ctx context.Context, lines io.Reader, options BatchOptions, sent func() int64, yield func(BatchAnswer, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := query{numberParam("rate", options.Rate), flagParam("dry_run", options.DryRun)}
	address := c.root + "/admin/message/batch" + query.encode()
	body, err := c.openLines(ctx, http.MethodPost, address, lines)
	if err != nil {
		yield(BatchAnswer{}, err)
		return
	}
	defer body.Close()
	answered := int64(0)
	for answer, err := range readLines[BatchAnswer](body) {
		if err != nil {
			yield(BatchAnswer{}, c.unreachable("the response broke off: "+err.Error(), err))
			return
		}
		if answer.Done != nil {
			prefix := fmt.Sprintf("the batch ended before line %d was answered: ", answer.Line)
			yield(BatchAnswer{}, errorOf(answer.Problem, prefix))
			return
		}
		answered++
		if !yield(answer, nil) {
			return
		}
	}
	if answered < sent() {
		yield(BatchAnswer{}, c.unreachable("the response ended before the batch", io.ErrUnexpectedEOF))
	}
}

// withID gives a send an id, without changing what the caller has.
func withID(send Send) Send {
	if send.Message != nil && send.Message.ID == "" {
		message := *send.Message
		message.ID = NewID()
		send.Message = &message
	}
	if send.MessageSystem != nil && send.MessageSystem.ID == "" {
		message := *send.MessageSystem
		message.ID = NewID()
		send.MessageSystem = &message
	}
	return send
}
