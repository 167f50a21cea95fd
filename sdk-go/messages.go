package herald

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	idempotentReplayed = "Idempotent-Replayed"
	mostWait           = 30 * time.Second
)

// SentMessage is a message that is stored.
type SentMessage struct {
	Ask
	// Replayed says that the id was used before, and that this is the first answer.
	Replayed bool
	// Delivery is set if the send waited for it (see [Wait]), unless too many callers were waiting.
	Delivery *DeliveryCounts
}

// SentSystemMessage is a system message that is stored.
type SentSystemMessage struct {
	Ack
	// Replayed says that the id was used before, and that this is the first answer.
	Replayed bool
	// Delivery is set if the send waited for it (see [Wait]), unless too many callers were waiting.
	Delivery *DeliveryCounts
}

// DeliveryCounts say how many users it was for, how many of them were online, and how many of those have it by now and have
// acknowledged it.
type DeliveryCounts struct{ Recipients, Online, Delivered, Acknowledged int }

// SendOption changes how a send is made.
type SendOption func(*sendOptions)

type sendOptions struct{ wait time.Duration }

// Wait makes a send return when everyone who is online has it and every connection that acknowledges has acknowledged it, or
// after this time: whole seconds, from 1 to 30.
func Wait(most time.Duration) SendOption { return func(options *sendOptions) { options.wait = most } }

// SendMessage sends a message to a conversation, and returns when it is stored. Without an id it gets a random one, so that
// retries send nothing twice.
func (c *Client) SendMessage(ctx context.Context, send SendMessageRequest, options ...SendOption) (*SentMessage, error) {
	if send.Message.ID == "" {
		send.Message.ID = NewID()
	}
	var answer SendMessageResponse
	header, err := c.send(ctx, []string{"admin", "message"}, send, &answer, options)
	if err != nil {
		return nil, err
	}
	if answer.Ask.ServerMID == "" {
		return nil, c.notHerald(http.StatusOK)
	}
	return &SentMessage{Ask: answer.Ask, Replayed: isReplayed(header), Delivery: readDelivery(header)}, nil
}

// SendSystemMessage sends a system message to listed users, to a conversation or to everyone, and returns when it is stored.
// Users who are offline receive it only with KeepDays.
func (c *Client) SendSystemMessage(ctx context.Context, send SendSystemMessageRequest, options ...SendOption) (*SentSystemMessage, error) {
	if send.MessageSystem.ID == "" {
		send.MessageSystem.ID = NewID()
	}
	var answer SendSystemMessageResponse
	header, err := c.send(ctx, []string{"admin", "message", "system"}, send, &answer, options)
	if err != nil {
		return nil, err
	}
	if answer.Ack.MID == "" {
		return nil, c.notHerald(http.StatusOK)
	}
	return &SentSystemMessage{Ack: answer.Ack, Replayed: isReplayed(header), Delivery: readDelivery(header)}, nil
}

func (c *Client) send(ctx context.Context, path []string, body, answer any, options []SendOption) (http.Header, error) {
	var chosen sendOptions
	for _, option := range options {
		option(&chosen)
	}
	call := call{method: http.MethodPost, path: path, body: body, isSafe: true}
	if chosen.wait != 0 {
		if chosen.wait < time.Second || chosen.wait%time.Second != 0 {
			return nil, fmt.Errorf("herald: a wait must be whole seconds, not %v", chosen.wait)
		}
		call.prefer = fmt.Sprintf("wait=%d", chosen.wait/time.Second)
		call.extra = min(chosen.wait, mostWait)
	}
	return c.do(ctx, call, answer)
}

// EditMessage changes the body of a message of the sender. The same edit again changes nothing.
func (c *Client) EditMessage(ctx context.Context, edit EditMessageRequest) error {
	return c.change(ctx, http.MethodPut, []string{"admin", "message"}, edit)
}

// React changes a participant's reactions to a message. What is there already, or is not, changes nothing.
func (c *Client) React(ctx context.Context, reaction UpdateReactionsRequest) error {
	return c.change(ctx, http.MethodPut, []string{"admin", "message", "reaction"}, reaction)
}

// RecallMessages takes messages of a conversation back: nobody can read them any more. It does so for all of them, or fails for all.
// With RecallTypeMyself, it hides them from the lists of the sender instead.
func (c *Client) RecallMessages(ctx context.Context, recall RecallMessagesRequest) error {
	return c.change(ctx, http.MethodDelete, []string{"admin", "message"}, withType(recall))
}

// RecallSystemMessages takes system messages of the sender back, all of them or none. Whoever they were addressed to hears it.
func (c *Client) RecallSystemMessages(ctx context.Context, recall RecallSystemMessagesRequest) error {
	return c.change(ctx, http.MethodDelete, []string{"admin", "message", "system"}, recall)
}

// MarkRead marks a conversation as read by a participant, up to the newest of the messages or to its end. Each author of what is
// newly read hears it. An earlier mark stays.
func (c *Client) MarkRead(ctx context.Context, read MarkReadRequest) error {
	return c.change(ctx, http.MethodPut, []string{"admin", "message", "read"}, read)
}

// TellTyping tells the other participants of a conversation who are connected that a user is typing, or has stopped. It holds until the
// next message of the user, or for 10 seconds: repeat it while it goes on. Nothing is stored, and it may be lost.
func (c *Client) TellTyping(ctx context.Context, typing TellTypingRequest) error {
	return c.change(ctx, http.MethodPut, []string{"admin", "message", "typing"}, typing)
}

func (c *Client) change(ctx context.Context, method string, path []string, body any) error {
	var answer SuccessResponse
	_, err := c.do(ctx, call{method: method, path: path, body: body}, &answer)
	return err
}

// TryMessage checks a message and returns whom SendMessage would reach. Nothing is stored or sent.
func (c *Client) TryMessage(ctx context.Context, send SendMessageRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPost, []string{"admin", "message"}, send)
}

// TrySystemMessage checks a system message and returns whom SendSystemMessage would reach. Nothing is stored or sent.
func (c *Client) TrySystemMessage(ctx context.Context, send SendSystemMessageRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPost, []string{"admin", "message", "system"}, send)
}

// TryEdit checks an edit and returns who would hear it. Nothing is changed.
func (c *Client) TryEdit(ctx context.Context, edit EditMessageRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPut, []string{"admin", "message"}, edit)
}

// TryReaction checks a change of reactions and returns who would hear it. Nothing is changed.
func (c *Client) TryReaction(ctx context.Context, reaction UpdateReactionsRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPut, []string{"admin", "message", "reaction"}, reaction)
}

// TryRecall checks a recall and returns who would hear it. Nothing is changed.
func (c *Client) TryRecall(ctx context.Context, recall RecallMessagesRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodDelete, []string{"admin", "message"}, withType(recall))
}

// TrySystemRecall checks a recall of system messages and returns who would hear it. Nothing is changed.
func (c *Client) TrySystemRecall(ctx context.Context, recall RecallSystemMessagesRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodDelete, []string{"admin", "message", "system"}, recall)
}

// TryRead checks a read and returns how many authors would hear it. Nothing is marked.
func (c *Client) TryRead(ctx context.Context, read MarkReadRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPut, []string{"admin", "message", "read"}, read)
}

func (c *Client) try(ctx context.Context, method string, path []string, body any) (*DryRun, error) {
	var answer DryRunResponse
	call := call{method: method, path: path, query: query{flagParam("dry_run", true)}, body: body, isSafe: true}
	if _, err := c.do(ctx, call, &answer); err != nil {
		return nil, err
	}
	return &answer.DryRun, nil
}

func withType(recall RecallMessagesRequest) RecallMessagesRequest {
	if recall.MessageDelete.Type == "" {
		recall.MessageDelete.Type = RecallTypeAll
	}
	return recall
}

func isReplayed(header http.Header) bool { return header.Get(idempotentReplayed) == "true" }

// readDelivery reads a dictionary of whole numbers (RFC 8941, section 3.2); nil if one of ours is missing.
func readDelivery(header http.Header) *DeliveryCounts {
	counts := map[string]int{}
	for member := range strings.SplitSeq(header.Get("Herald-Delivery"), ",") {
		var value int
		name, digits, _ := strings.Cut(strings.TrimSpace(member), "=")
		if _, err := fmt.Sscanf(digits, "%d", &value); err == nil {
			counts[name] = value
		}
	}
	read, err := pick(counts, "recipients", "online", "delivered", "acknowledged")
	if err != nil {
		return nil
	}
	return &DeliveryCounts{Recipients: read[0], Online: read[1], Delivered: read[2], Acknowledged: read[3]}
}

func pick(counts map[string]int, names ...string) ([]int, error) {
	var picked []int
	for _, name := range names {
		count, ok := counts[name]
		if !ok {
			return nil, errors.New(name + " is missing")
		}
		picked = append(picked, count)
	}
	return picked, nil
}
