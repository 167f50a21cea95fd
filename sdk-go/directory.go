package herald

import (
	"context"
	"iter"
	"net/http"
)

// PutOrganization creates or updates an organization. Limits need a key that is bound to no organization; null is the server's default.
func (c *Client) PutOrganization(ctx context.Context, org string, fields PutOrganizationRequest) (*Resource, error) {
	return put[Resource](ctx, c, fields, organization(org)...)
}

// GetOrganization reads an organization, its limits and what it uses.
func (c *Client) GetOrganization(ctx context.Context, org string) (*Organization, error) {
	return get[Organization](ctx, c, nil, organization(org)...)
}

// DeleteOrganization deletes an organization and everything in it.
func (c *Client) DeleteOrganization(ctx context.Context, org string) error {
	return c.remove(ctx, nil, organization(org)...)
}

// ListOrganizations reads a page of the organizations, by id.
func (c *Client) ListOrganizations(ctx context.Context, page PageOptions) (*Page[Resource], error) {
	return listPage[Resource](ctx, c, organizations, page)
}

// Organizations yields all organizations, by id.
func (c *Client) Organizations(ctx context.Context) iter.Seq2[Resource, error] {
	return each[Resource](ctx, c, organizations)
}

var organizations = list{path: []string{"admin", "organizations"}}

// PutUser creates or updates a user. Blocked closes the user's connections on all nodes, and refuses the user's tokens until it is
// false again.
func (c *Client) PutUser(ctx context.Context, org, uid string, fields PutUserRequest) (*User, error) {
	return put[User](ctx, c, fields, organization(org, "users", uid)...)
}

// GetUser reads a user.
func (c *Client) GetUser(ctx context.Context, org, uid string) (*User, error) {
	return get[User](ctx, c, nil, organization(org, "users", uid)...)
}

// DeleteUser deletes a user. What the user wrote stays.
func (c *Client) DeleteUser(ctx context.Context, org, uid string) error {
	return c.remove(ctx, nil, organization(org, "users", uid)...)
}

// EraseUser deletes a user and everything that the user wrote. In a large organization that can take minutes: give the client a
// longer Timeout, or call it again if it fails: it goes on.
func (c *Client) EraseUser(ctx context.Context, org, uid string) error {
	return c.remove(ctx, query{param("messages", "erase")}, organization(org, "users", uid)...)
}

// ListUsers reads a page of the users, by id.
func (c *Client) ListUsers(ctx context.Context, org string, page PageOptions) (*Page[User], error) {
	return listPage[User](ctx, c, users(org), page)
}

// Users yields all users of an organization, by id.
func (c *Client) Users(ctx context.Context, org string) iter.Seq2[User, error] {
	return each[User](ctx, c, users(org))
}

func users(org string) list { return list{path: organization(org, "users")} }

// EndSessions closes the user's connections on all nodes, and refuses all tokens that were issued until now.
func (c *Client) EndSessions(ctx context.Context, org, uid string) error {
	return c.remove(ctx, nil, organization(org, "users", uid, "sessions")...)
}

// PutConversation creates or updates a conversation. Participants replaces the set of its participants; nil keeps it.
func (c *Client) PutConversation(ctx context.Context, org, cid string, fields PutConversationRequest) (*Resource, error) {
	return put[Resource](ctx, c, fields, organization(org, "conversations", cid)...)
}

// GetConversation reads a conversation.
func (c *Client) GetConversation(ctx context.Context, org, cid string) (*Resource, error) {
	return get[Resource](ctx, c, nil, organization(org, "conversations", cid)...)
}

// DeleteConversation deletes a conversation and its messages.
func (c *Client) DeleteConversation(ctx context.Context, org, cid string) error {
	return c.remove(ctx, nil, organization(org, "conversations", cid)...)
}

// ListConversations reads a page of the conversations, by id.
func (c *Client) ListConversations(ctx context.Context, org string, page PageOptions) (*Page[Resource], error) {
	return listPage[Resource](ctx, c, conversations(org), page)
}

// Conversations yields all conversations of an organization, by id.
func (c *Client) Conversations(ctx context.Context, org string) iter.Seq2[Resource, error] {
	return each[Resource](ctx, c, conversations(org))
}

func conversations(org string) list { return list{path: organization(org, "conversations")} }

// AddParticipant lets a user take part in a conversation. Connections that are open follow at once.
func (c *Client) AddParticipant(ctx context.Context, org, cid, uid string) (*Resource, error) {
	return put[Resource](ctx, c, nil, organization(org, "conversations", cid, "participants", uid)...)
}

// RemoveParticipant ends a user's part in a conversation.
func (c *Client) RemoveParticipant(ctx context.Context, org, cid, uid string) error {
	return c.remove(ctx, nil, organization(org, "conversations", cid, "participants", uid)...)
}

// ListParticipants reads a page of the users who take part in a conversation, by id.
func (c *Client) ListParticipants(ctx context.Context, org, cid string, page PageOptions) (*Page[Resource], error) {
	return listPage[Resource](ctx, c, participants(org, cid), page)
}

// Participants yields all users who take part in a conversation, by id.
func (c *Client) Participants(ctx context.Context, org, cid string) iter.Seq2[Resource, error] {
	return each[Resource](ctx, c, participants(org, cid))
}

func participants(org, cid string) list {
	return list{path: organization(org, "conversations", cid, "participants")}
}

func put[Answer any](ctx context.Context, c *Client, body any, path ...string) (*Answer, error) {
	return answer[Answer](ctx, c, call{method: http.MethodPut, path: path, body: body})
}
