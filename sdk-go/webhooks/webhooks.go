// Package webhooks verifies and reads the webhooks of a Herald server, which are signed as Standard Webhooks 1.0 says.
//
//	hook, err := webhooks.New(os.Getenv("WEBHOOK_SECRET"))
//	http.Handle("POST /herald", hook.Handler(func(ctx context.Context, event webhooks.Event) error { … }))
package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// Tolerance is how far the time of a webhook may be from now.
	Tolerance = 5 * time.Minute

	mostBytes = 1 << 20
)

var (
	// ErrSignature means that none of the signatures is right: the webhook is not from the server, or was changed.
	ErrSignature = errors.New("webhooks: the signature is wrong")
	// ErrTimestamp means that the webhook is too old or from the future: perhaps somebody repeats it.
	ErrTimestamp = errors.New("webhooks: the timestamp is missing, or too far from now")
)

// Event is a webhook.
type Event struct {
	// ID is the webhook-id: the same for each attempt to deliver it. Ignore an event whose id you know.
	ID string `json:"-"`
	// Type says what happened, such as message.unreached.
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// Unreached is the data of message.unreached and system_message.unreached: who had not got it in time.
type Unreached struct {
	OrganizationID string `json:"organizationId"`
	// Message is the event that recipients get.
	Message   json.RawMessage `json:"message"`
	Unreached []struct {
		UID string `json:"uid"`
		// Reason is offline or unacknowledged.
		Reason string `json:"reason"`
	} `json:"unreached"`
	WaitedSeconds int `json:"waited_seconds"`
	// Part is the number of this event among Parts for the same message, counted from 1.
	Part  int `json:"part"`
	Parts int `json:"parts"`
	// Truncated says that the body was too long, and is cut.
	Truncated bool `json:"truncated"`
}

// MessageRead is the data of message.read: what a participant has read.
type MessageRead struct {
	OrganizationID string `json:"organizationId"`
	MessageRead    struct {
		// IDs are the messages of others, at most 100, oldest first; everything before them is read, too.
		IDs []string `json:"ids"`
		CID string   `json:"cid"`
		// From is the reader.
		From string `json:"from"`
		// T is in Unix epoch seconds.
		T int64 `json:"t"`
	} `json:"message_read"`
}

// ScheduledFailed is the data of scheduled.failed: a scheduled send that was refused when it was due.
type ScheduledFailed struct {
	OrganizationID string `json:"organizationId"`
	Scheduled      struct {
		ID     string    `json:"id"`
		SendAt time.Time `json:"send_at"`
		// Problem says why (RFC 9457).
		Problem json.RawMessage `json:"problem"`
	} `json:"scheduled"`
}

// ProposalWaiting is the data of proposal.waiting: a send that was proposed, and waits for a decision.
type ProposalWaiting struct {
	OrganizationID string `json:"organizationId"`
	Proposal       struct {
		// ID is the proposal's, to read and decide it.
		ID string `json:"id"`
		// SenderID is the user as whom it would be sent.
		SenderID string `json:"senderId"`
		// CID is the conversation that it would go to; nil for a system message to users or to everyone.
		CID *string `json:"cid"`
		// ProposedBy is the key that proposed it, by id.
		ProposedBy string `json:"proposed_by"`
		// ExpiresAt is until when it can be decided.
		ExpiresAt time.Time `json:"expires_at"`
	} `json:"proposal"`
}

// Undeliverable is the data of message.undeliverable: a delivery to another webhook that has failed for good.
type Undeliverable struct {
	OrganizationID string `json:"organizationId"`
	Undeliverable  struct {
		Webhook  string `json:"webhook"`
		Delivery string `json:"delivery"`
		// Type is what it told about.
		Type string `json:"type"`
		// ID is that of the message, system message scheduled send or proposal; nil for anything else.
		ID    *string `json:"id"`
		Tries int     `json:"tries"`
		// Status is that of the last answer; nil if there was none.
		Status *int   `json:"status"`
		Error  string `json:"error"`
	} `json:"undeliverable"`
}

// Presence is the data of users.presence: who has come and who has gone. Events may arrive in another order: whoever applies all of
// them by Seq, beginning with nobody at 1, has the users that are online.
type Presence struct {
	OrganizationID string   `json:"organizationId"`
	Online         []string `json:"online"`
	// Offline are those who have had no connection for the wait_seconds of the webhook.
	Offline []string `json:"offline"`
	// Seq has no holes.
	Seq int64 `json:"seq"`
}

// Webhook verifies the webhooks that are signed with one secret.
type Webhook struct {
	key func() []byte // as it is a function, nothing prints it
	now func() time.Time
}

// New takes the secret of a webhook, whsec_…, and leaves out white space around it. While the server signs with two secrets, after a rotation, either of them will do.
func New(secret string) (*Webhook, error) {
	encoded := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, errors.New("webhooks: the secret must be base64, after whsec_")
	}
	return &Webhook{key: func() []byte { return key }, now: time.Now}, nil
}

// Verify returns nil only if the body, as it was received, is from somebody who has the secret, and of now.
func (w *Webhook) Verify(header http.Header, body []byte) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return ErrTimestamp
	}
	if age := w.now().Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrTimestamp
	}
	mac := hmac.New(sha256.New, w.key())
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := mac.Sum(nil)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		version, encoded, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return nil
		}
	}
	return ErrSignature
}

// Read verifies a webhook, and reads it.
func (w *Webhook) Read(header http.Header, body []byte) (*Event, error) {
	if err := w.Verify(header, body); err != nil {
		return nil, err
	}
	event := Event{ID: header.Get("webhook-id")}
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, fmt.Errorf("webhooks: the body: %w", err)
	}
	return &event, nil
}

// Handler handles webhooks: it answers 401 to what is not verified, and 204 when the function returns nil. If that returns an
// error, the answer is 500, and the server tries again later, with the same id.
func (w *Webhook) Handler(handle func(context.Context, Event) error) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, mostBytes))
		if err != nil {
			http.Error(writer, "the body cannot be read", http.StatusBadRequest)
			return
		}
		event, err := w.Read(request.Header, body)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusUnauthorized)
			return
		}
		if err := handle(request.Context(), *event); err != nil {
			http.Error(writer, "not handled", http.StatusInternalServerError)
			return
		}
		writer.WriteHeader(http.StatusNoContent)
	})
}
