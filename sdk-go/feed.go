package herald

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"
)

const defaultSilence = 90 * time.Second

// Event is what was delivered in an organization: exactly one of its members is set, besides the cursor.
type Event struct {
	// Cursor is where the event is in the log. Keep it together with what the event changed, to go on from there.
	Cursor string `json:"-"`

	Message       *ListedMessage     `json:"message"`
	SystemMessage *SystemMessage     `json:"system_message"`
	Edit          *EditEvent         `json:"message_edit"`
	Recall        *RecallEvent       `json:"message_delete"`
	SystemRecall  *SystemRecallEvent `json:"system_message_delete"`
	Read          *ReadEvent         `json:"message_read"`
	InboxRead     *InboxReadEvent    `json:"system_message_read"`
	Reaction      *ReactionEvent     `json:"message_reactions_update"`
}

// SystemMessage is a system message as it is delivered.
type SystemMessage struct {
	// ID is the id of the send; two senders may use the same one.
	ID string `json:"_id"`
	// CID is the conversation that it was sent to, empty if it was sent to users or to everyone.
	CID string `json:"cid,omitzero"`
	// From is the user who sent it.
	From string `json:"from"`
	// T is when it was sent, in Unix seconds.
	T int64 `json:"t"`
	// X holds the custom parameters, as they were sent.
	X map[string]any `json:"x"`
	// CreatedAt is when it was sent, if it is kept in inboxes.
	CreatedAt *time.Time `json:"created_at,omitempty"`
	// Key is shared by those of the sender that replace each other, if it has one.
	Key string `json:"key,omitzero"`
	// Silent says that it counts as unread nowhere.
	Silent bool `json:"silent,omitzero"`
}

// EditEvent says that a message has a new body.
type EditEvent struct {
	ID   string         `json:"id"`
	CID  string         `json:"cid"`
	From string         `json:"from"`
	Body string         `json:"body"`
	X    map[string]any `json:"x"`
	T    int64          `json:"t"`
}

// ReactionEvent says that a participant has reacted to a message, or takes a reaction back. Lists have the counts.
type ReactionEvent struct {
	MID  string `json:"mid"`
	CID  string `json:"cid"`
	From string `json:"from"`
	// Add is the reaction that was added, if one was.
	Add string `json:"add,omitzero"`
	// Remove is the reaction that was removed, if one was.
	Remove string `json:"remove,omitzero"`
}

// RecallEvent says that messages were taken back.
type RecallEvent struct {
	IDs  []string `json:"ids"`
	CID  string   `json:"cid"`
	From string   `json:"from"`
	Type string   `json:"type"`
	T    int64    `json:"t"`
}

// SystemRecallEvent says that system messages of one sender were taken back.
type SystemRecallEvent struct {
	IDs  []string `json:"ids"`
	From string   `json:"from"`
	T    int64    `json:"t"`
}

// InboxReadEvent says that a user has seen or read system messages in the inbox.
type InboxReadEvent struct {
	IDs []string `json:"ids"`
	// Seen says that they are seen only, and not read.
	Seen bool  `json:"seen"`
	T    int64 `json:"t"`
}

// ReadEvent says that a participant has read messages.
type ReadEvent struct {
	IDs  []string `json:"ids"`
	CID  string   `json:"cid"`
	From string   `json:"from"`
	T    int64    `json:"t"`
}

// FeedOptions select events. The zero value selects all.
type FeedOptions struct {
	// After is a cursor: the feed begins with the event after it. If the server does not keep everything since, the feed fails
	// with the code cursor_too_old.
	After string
	// Kind is message, system_message, message_edit, message_delete, system_message_delete, message_read or system_message_read;
	// Types are several of them.
	Kind  string
	Types []string
	// CID selects what happens in a conversation, UID what a user sends or receives. UID cannot be combined with After.
	CID, UID string
	// OnCursor is called with the cursor of the place where the feed begins, and with that of each event just before it is
	// yielded.
	OnCursor func(cursor string)
	// OnConnect is called when the feed is connected, at first and after an interruption.
	OnConnect func()
	// OnInterruption is called when the feed was interrupted, and at each failure to connect again, which is tried next in the
	// given time. The feed then goes on where it was; with UID, it omits what is delivered in the meantime.
	OnInterruption func(err error, retryIn time.Duration)
	// Silence is how long nothing may arrive, not even a heartbeat, until the feed counts as interrupted: 0 means 90 s.
	Silence time.Duration
}

// Events yields everything that is delivered in the organization after a cursor, or from now on, in the order of its log, until
// the context ends or the server refuses the feed; that error is yielded last. A feed that is interrupted connects again and goes
// on where it was.
func (c *Client) Events(ctx context.Context, org string, options FeedOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		feed := feed{client: c, org: org, cursor: options.After, options: options, yield: yield}
		if err := feed.run(ctx); err != nil {
			yield(Event{}, err)
		}
	}
}

// errStopped means that the caller wants no more events.
var errStopped = errors.New("stopped")

type feed struct {
	client *Client
	org    string
	// cursor is that of the event yielded last, or of the place where the feed began.
	cursor  string
	options FeedOptions
	yield   func(Event, error) bool
	// hasConnected says that it has been connected once, and failures that of connections in a row.
	hasConnected bool
	failures     int
}

// run returns nil if the caller stopped.
func (f *feed) run(ctx context.Context) error {
	for {
		err := f.connect(ctx)
		if errors.Is(err, errStopped) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var failure *Error
		mayRetry := errors.As(err, &failure) && (failure.IsUnknown() || failure.Status == http.StatusTooManyRequests)
		if !mayRetry || (!f.hasConnected && f.failures >= f.client.retries) {
			return err
		}
		retryIn := failure.RetryAfter + f.client.backoff.wait(f.failures)
		f.failures++
		if f.hasConnected && f.options.OnInterruption != nil {
			f.options.OnInterruption(err, retryIn)
		}
		if !sleep(ctx, retryIn) {
			<-ctx.Done() // a deadline that comes before the next attempt
			return ctx.Err()
		}
	}
}

// connect reads one stream to its end, and says why it ended.
func (f *feed) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(f.client.timeout, cancel)
	defer watch.Stop()
	address, err := f.address()
	if err != nil {
		return err
	}
	request, err := f.client.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	body, err := f.client.openStream(request, "text/event-stream")
	if err != nil {
		return err
	}
	defer body.Close()
	f.hasConnected, f.failures = true, 0
	if f.options.OnConnect != nil {
		f.options.OnConnect()
	}
	silence := orDefault(f.options.Silence, defaultSilence)
	watch.Reset(silence)
	for sent, err := range readEvents(body, func() { watch.Reset(silence) }) {
		if err != nil {
			return f.client.unreachable("the feed was interrupted", err)
		}
		watch.Stop() // however long the caller takes
		if err := f.hear(sent); err != nil {
			return err
		}
		watch.Reset(silence)
	}
	return f.client.unreachable("the feed ended", io.EOF)
}

// address is that of the feed after its cursor.
func (f *feed) address() (string, error) {
	after := f.cursor
	if f.options.UID != "" {
		after = f.options.After
	}
	return f.client.address(organization(f.org, "events"), query{
		param("kind", f.options.Kind), parameter{"types", f.options.Types}, param("cid", f.options.CID), param("uid", f.options.UID),
		param("after", after),
	})
}

// hear moves the cursor and yields the event, unless its kind is not known.
func (f *feed) hear(sent serverSent) error {
	if sent.id != "" {
		f.cursor = sent.id
		if f.options.OnCursor != nil {
			f.options.OnCursor(sent.id)
		}
	}
	var event Event
	if len(sent.data) == 0 {
		return nil
	}
	if err := json.Unmarshal(sent.data, &event); err != nil {
		return f.client.unreachable("the feed cannot be read", err)
	}
	if event == (Event{}) {
		return nil
	}
	event.Cursor = f.cursor
	if !f.yield(event, nil) {
		return errStopped
	}
	return nil
}
