package herald

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
)

// OnlineOptions select users; the zero value selects everyone who is connected.
type OnlineOptions struct {
	// UIDs selects these users, also those who are offline or unknown: they have no connections.
	UIDs []string
	// Devices adds the device ids of the first 20 of the UIDs, by id.
	Devices bool
	// LastSeen adds when each of the users was last seen.
	LastSeen bool
}

func (o OnlineOptions) list(org string) list {
	query := query{parameter{"uids", o.UIDs}, flagParam("devices", o.Devices), flagParam("last_seen", o.LastSeen)}
	return list{path: organization(org, "online"), query: query}
}

// ListOnline reads a page of the users who are connected now, on all nodes, by id.
func (c *Client) ListOnline(ctx context.Context, org string, options OnlineOptions, page PageOptions) (*Page[OnlineUser], error) {
	return listPage[OnlineUser](ctx, c, options.list(org), page)
}

// Online yields the users who are connected now, on all nodes, by id.
func (c *Client) Online(ctx context.Context, org string, options OnlineOptions) iter.Seq2[OnlineUser, error] {
	return each[OnlineUser](ctx, c, options.list(org))
}

// CountOnline counts the users who are connected now, on all nodes: all, or those that are named.
func (c *Client) CountOnline(ctx context.Context, org string, uids ...string) (*OnlineCount, error) {
	return get[OnlineCount](ctx, c, query{flagParam("count", true), parameter{"uids", uids}}, organization(org, "online")...)
}

// ListOnlineUsers reads users who are connected now, on all nodes, by id, with their names: up to 100, after the first offset of them.
// To read all, page through [Client.Online].
func (c *Client) ListOnlineUsers(ctx context.Context, org string, limit, offset int) ([]UserView, error) {
	body := OnlineUsersRequest{OrganizationID: org, Limit: Ptr(limit), Offset: Ptr(offset)}
	users, err := answer[OnlineUsers](ctx, c, call{method: http.MethodPost, path: []string{"admin", "activity", "online"}, body: body})
	if err != nil {
		return nil, err
	}
	return users.Users, nil
}

// ListConnections reads where a user is connected now, on all nodes, the oldest connection first, how the last connection ended, and
// which check refused the last token.
func (c *Client) ListConnections(ctx context.Context, org, uid string) (*UserConnectionList, error) {
	return get[UserConnectionList](ctx, c, nil, organization(org, "users", uid, "connections")...)
}

// CloseConnection closes one connection of a user. Its client reconnects, and receives what it missed.
func (c *Client) CloseConnection(ctx context.Context, org, uid, connection string) error {
	return c.remove(ctx, nil, organization(org, "users", uid, "connections", connection)...)
}

// ListNodes reads the nodes, in the order in which they started.
func (c *Client) ListNodes(ctx context.Context) ([]Node, error) {
	nodes, err := get[NodeList](ctx, c, nil, "admin", "nodes")
	if err != nil {
		return nil, err
	}
	return nodes.Items, nil
}

// NodeHistory reads what all nodes did together in the last 30 minutes, as the node that answers has seen it since it started.
func (c *Client) NodeHistory(ctx context.Context) (*NodeHistory, error) {
	nodes, err := get[NodeList](ctx, c, query{flagParam("history", true)}, "admin", "nodes")
	if err != nil {
		return nil, err
	}
	return nodes.History, nil
}

// Health asks the node whether it works.
func (c *Client) Health(ctx context.Context) (*Health, error) { return c.health(ctx, "healthz") }

// Readiness asks the node whether it can serve.
func (c *Client) Readiness(ctx context.Context) (*Health, error) { return c.health(ctx, "readyz") }

// health makes one attempt: 503 is an answer, too.
func (c *Client) health(ctx context.Context, path string) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, text, failure := c.exchange(ctx, call{method: http.MethodGet}, c.root+"/"+path, nil)
	if failure != nil {
		return nil, failure
	}
	var health Health
	isAnswer := response.StatusCode == http.StatusServiceUnavailable || isSuccess(response, jsonType)
	if !isAnswer || json.Unmarshal(text, &health) != nil || !health.Status.Valid() {
		return nil, c.failureOf(response, text)
	}
	return &health, nil
}

// OpenAPI reads the description of the HTTP API.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	return raw(get[json.RawMessage](ctx, c, nil, "openapi.json"))
}

// AsyncAPI reads the description of the real-time protocol.
func (c *Client) AsyncAPI(ctx context.Context) (json.RawMessage, error) {
	return raw(get[json.RawMessage](ctx, c, nil, "asyncapi.json"))
}

func raw(text *json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return *text, nil
}

// Metrics reads the metrics of the node, as Prometheus does. It answers on loopback, and elsewhere as the server is set.
func (c *Client) Metrics(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, text, failure := c.exchange(ctx, call{method: http.MethodGet}, c.root+"/metrics", nil)
	if failure != nil {
		return "", failure
	}
	if !isSuccess(response, "text/plain") {
		return "", c.failureOf(response, text)
	}
	return string(text), nil
}
