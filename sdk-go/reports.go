package herald

import (
	"context"
	"iter"
)

// HistoryOptions select messages of a conversation: newest first; with After, oldest first.
type HistoryOptions struct {
	// Before and After are ids of messages: only what is older, or newer, is listed.
	Before, After string
}

func history(org, cid string, options HistoryOptions) list {
	query := query{param("before", options.Before), param("after", options.After)}
	return list{path: organization(org, "conversations", cid, "messages"), query: query}
}

// ListMessages reads a page of the history of a conversation.
func (c *Client) ListMessages(ctx context.Context, org, cid string, options HistoryOptions, page PageOptions) (*Page[ListedMessage], error) {
	return listPage[ListedMessage](ctx, c, history(org, cid, options), page)
}

// Messages yields the history of a conversation.
func (c *Client) Messages(ctx context.Context, org, cid string, options HistoryOptions) iter.Seq2[ListedMessage, error] {
	return each[ListedMessage](ctx, c, history(org, cid, options))
}

// GetMessage reads a message and its delivery, by the ServerMID of the send.
func (c *Client) GetMessage(ctx context.Context, org, serverMID string) (*MessageReport, error) {
	return get[MessageReport](ctx, c, nil, organization(org, "messages", serverMID)...)
}

// GetSystemMessage reads a system message and its delivery, by the MID of the send. If several senders used that id, senderID
// says which; otherwise it may be empty.
func (c *Client) GetSystemMessage(ctx context.Context, org, mid, senderID string) (*SystemMessageReport, error) {
	return get[SystemMessageReport](ctx, c, query{param("senderId", senderID)}, organization(org, "system-messages", mid)...)
}

// InboxOptions select what is in an inbox; the zero value selects all.
type InboxOptions struct {
	// Unread selects what the user has not read.
	Unread bool
}

func (o InboxOptions) of(org, uid string) list {
	return list{path: organization(org, "users", uid, "system-messages"), query: query{flagParam("unread", o.Unread)}}
}

// ListInbox reads a page of a user's inbox, newest first: the system messages that are kept there.
func (c *Client) ListInbox(ctx context.Context, org, uid string, options InboxOptions, page PageOptions) (*Page[InboxItem], error) {
	return listPage[InboxItem](ctx, c, options.of(org, uid), page)
}

// Inbox yields a user's inbox, newest first.
func (c *Client) Inbox(ctx context.Context, org, uid string, options InboxOptions) iter.Seq2[InboxItem, error] {
	return each[InboxItem](ctx, c, options.of(org, uid))
}

// DeliveryOptions select what was addressed to a user; the zero value selects all.
type DeliveryOptions struct {
	State RecipientState
}

func (o DeliveryOptions) of(org, uid string) list {
	return list{path: organization(org, "users", uid, "deliveries"), query: query{param("state", string(o.State))}}
}

// ListDeliveries reads a page of what was addressed to a user, newest first, with what the user has of it.
func (c *Client) ListDeliveries(ctx context.Context, org, uid string, options DeliveryOptions, page PageOptions) (*Page[DeliveryItem], error) {
	return listPage[DeliveryItem](ctx, c, options.of(org, uid), page)
}

// Deliveries yields what was addressed to a user, newest first, with what the user has of it.
func (c *Client) Deliveries(ctx context.Context, org, uid string, options DeliveryOptions) iter.Seq2[DeliveryItem, error] {
	return each[DeliveryItem](ctx, c, options.of(org, uid))
}

// RecipientOptions select recipients; the zero value selects all.
type RecipientOptions struct {
	State RecipientState
	// SenderID says whose system message it is, if several senders used its id.
	SenderID string
}

func (o RecipientOptions) of(path []string) list {
	return list{path: path, query: query{param("state", string(o.State)), param("senderId", o.SenderID)}}
}

// ListRecipients reads a page of the recipients of a message, by id.
func (c *Client) ListRecipients(ctx context.Context, org, serverMID string, options RecipientOptions, page PageOptions) (*Page[Recipient], error) {
	return listPage[Recipient](ctx, c, options.of(organization(org, "messages", serverMID, "recipients")), page)
}

// Recipients yields the recipients of a message, by id.
func (c *Client) Recipients(ctx context.Context, org, serverMID string, options RecipientOptions) iter.Seq2[Recipient, error] {
	return each[Recipient](ctx, c, options.of(organization(org, "messages", serverMID, "recipients")))
}

// ListSystemRecipients reads a page of the recipients of a system message, in the order of its UIDs.
func (c *Client) ListSystemRecipients(ctx context.Context, org, mid string, options RecipientOptions, page PageOptions) (*Page[Recipient], error) {
	return listPage[Recipient](ctx, c, options.of(organization(org, "system-messages", mid, "recipients")), page)
}

// SystemRecipients yields the recipients of a system message, in the order of its UIDs.
func (c *Client) SystemRecipients(ctx context.Context, org, mid string, options RecipientOptions) iter.Seq2[Recipient, error] {
	return each[Recipient](ctx, c, options.of(organization(org, "system-messages", mid, "recipients")))
}
