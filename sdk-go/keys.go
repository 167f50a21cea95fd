package herald

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// CreateKey creates an API key. Only this answer has its secret. It is not retried if the outcome is unknown: that could create
// a second key.
func (c *Client) CreateKey(ctx context.Context, fields CreateKeyRequest) (*APIKeyWithSecret, error) {
	return answer[APIKeyWithSecret](ctx, c, call{method: http.MethodPost, path: keys.path, body: fields})
}

// GetOwnKey reads the key of this client, and what it may do.
func (c *Client) GetOwnKey(ctx context.Context) (*OwnKey, error) {
	return get[OwnKey](ctx, c, nil, "admin", "self")
}

// GetKey reads an API key, without its secret.
func (c *Client) GetKey(ctx context.Context, id string) (*APIKey, error) {
	return get[APIKey](ctx, c, nil, "admin", "keys", id)
}

// RotateKey gives a key a new secret, and the old one works for the overlap: 24 h unless it is set. It is not retried if the
// outcome is unknown: that could end the secret before.
func (c *Client) RotateKey(ctx context.Context, id string, fields RotateKeyRequest) (*APIKeyWithSecret, error) {
	call := call{method: http.MethodPost, path: []string{"admin", "keys", id, "rotate"}, body: fields}
	return answer[APIKeyWithSecret](ctx, c, call)
}

// RevokeKey revokes a key. Every node refuses it within 5 seconds.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.remove(ctx, nil, "admin", "keys", id)
}

// EndSession ends the session of a person in the console. Every node refuses it from then on.
func (c *Client) EndSession(ctx context.Context, id string) error {
	return c.remove(ctx, nil, "admin", "sessions", id)
}

// ListSessions reads a page of the sessions of people in the console, the oldest first.
func (c *Client) ListSessions(ctx context.Context, page PageOptions) (*Page[ConsoleSession], error) {
	return listPage[ConsoleSession](ctx, c, sessions, page)
}

// Sessions yields all sessions of people in the console.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[ConsoleSession, error] {
	return each[ConsoleSession](ctx, c, sessions)
}

// ListKeys reads a page of the API keys.
func (c *Client) ListKeys(ctx context.Context, page PageOptions) (*Page[APIKey], error) {
	return listPage[APIKey](ctx, c, keys, page)
}

// Keys yields all API keys.
func (c *Client) Keys(ctx context.Context) iter.Seq2[APIKey, error] {
	return each[APIKey](ctx, c, keys)
}

var keys = list{path: []string{"admin", "keys"}}

var sessions = list{path: []string{"admin", "sessions"}}

// AuditOptions select entries of the audit log; the zero value selects all.
type AuditOptions struct {
	Organization, Key, Operation string
	Result                       AuditResult
	Status                       int
	// After is the id of an entry: only entries after it, oldest first.
	After string
	// Since and Until are times: from the first on, and before the second.
	Since, Until time.Time
}

func (o AuditOptions) list() list {
	return list{path: []string{"admin", "audit"}, query: query{
		param("organization", o.Organization), param("key", o.Key), param("operation", o.Operation),
		param("result", string(o.Result)), numberParam("status", o.Status), param("after", o.After),
		timeParam("since", o.Since), timeParam("until", o.Until),
	}}
}

// ListAudit reads a page of the audit log, newest first, or with After oldest first. It may have fewer entries than its limit, and more may follow.
func (c *Client) ListAudit(ctx context.Context, options AuditOptions, page PageOptions) (*Page[AuditEntry], error) {
	return listPage[AuditEntry](ctx, c, options.list(), page)
}

// Audit yields the audit log, newest first.
func (c *Client) Audit(ctx context.Context, options AuditOptions) iter.Seq2[AuditEntry, error] {
	return each[AuditEntry](ctx, c, options.list())
}
