package herald

import (
	"context"
	"iter"
	"net/http"
)

// PageOptions select a page of a list. The zero value is the first page, of the server's size.
type PageOptions struct {
	// Limit is how many entries a page may have: 1 to 1,000; 0 means 100. A page may have fewer, and more may follow.
	Limit int
	// Cursor is that of the page before.
	Cursor string
	// Prefix is what the id or name must begin with, ignoring case; only ListUsers and ListConversations take it.
	Prefix string
}

func (o PageOptions) query() query {
	return query{numberParam("limit", o.Limit), param("cursor", o.Cursor), param("prefix", o.Prefix)}
}

// Page is a page of a list. The list ends when Cursor is nil.
type Page[Item any] struct {
	Items  []Item  `json:"items"`
	Cursor *string `json:"cursor"`
}

// list is a list of the API, of which pages are read.
type list struct {
	path  []string
	query query
}

func listPage[Item any](ctx context.Context, c *Client, list list, options PageOptions) (*Page[Item], error) {
	var page Page[Item]
	call := call{method: http.MethodGet, path: list.path, query: append(options.query(), list.query...)}
	if _, err := c.do(ctx, call, &page); err != nil {
		return nil, err
	}
	return &page, nil
}

// each yields the entries of all pages. A failure is yielded once, and ends the list.
func each[Item any](ctx context.Context, c *Client, list list) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var options PageOptions
		for {
			page, err := listPage[Item](ctx, c, list, options)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Cursor == nil {
				return
			}
			options.Cursor = *page.Cursor
		}
	}
}

// get reads one thing.
func get[Answer any](ctx context.Context, c *Client, query query, path ...string) (*Answer, error) {
	return answer[Answer](ctx, c, call{method: http.MethodGet, path: path, query: query})
}

func answer[Answer any](ctx context.Context, c *Client, call call) (*Answer, error) {
	var answer Answer
	if _, err := c.do(ctx, call, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

func (c *Client) remove(ctx context.Context, query query, path ...string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: path, query: query}, nil)
	return err
}

func organization(org string, rest ...string) []string {
	return append([]string{"admin", "organizations", org}, rest...)
}
