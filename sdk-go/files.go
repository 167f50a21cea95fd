package herald

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// Upload stores a file, and returns its FileID for an attachment of a message. A file that no message has named within 24 hours is
// removed. The bytes can be read only once, so nothing is retried: an upload that breaks off leaves nothing.
func (c *Client) Upload(ctx context.Context, org, name, mediaType string, bytes io.Reader) (*File, error) {
	return c.upload(ctx, call{method: http.MethodPost, path: organization(org, "files"), query: query{param("name", name)}}, mediaType, bytes)
}

// PutFile stores the bytes of a file that a send has announced: one of its attachments had no FileID.
func (c *Client) PutFile(ctx context.Context, org, fileID, mediaType string, bytes io.Reader) (*File, error) {
	return c.upload(ctx, call{method: http.MethodPut, path: organization(org, "files", fileID)}, mediaType, bytes)
}

func (c *Client) upload(ctx context.Context, call call, mediaType string, bytes io.Reader) (*File, error) {
	address, err := c.address(call.path, call.query)
	if err != nil {
		return nil, err
	}
	request, err := c.request(ctx, call.method, address, bytes)
	if err != nil {
		return nil, c.unreachable(err.Error(), err)
	}
	request.Header.Set("Content-Type", mediaType)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.noResponse(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.noResponse(err)
	}
	var file File
	if response.StatusCode >= 300 || json.Unmarshal(text, &file) != nil {
		return nil, c.failureOf(response, text)
	}
	return &file, nil
}

// GetFile returns what is known of a file.
func (c *Client) GetFile(ctx context.Context, org, fileID string) (*File, error) {
	return get[File](ctx, c, nil, organization(org, "files", fileID)...)
}

// DeleteFile removes a file. Messages that name it stay as they are.
func (c *Client) DeleteFile(ctx context.Context, org, fileID string) error {
	return c.remove(ctx, nil, organization(org, "files", fileID)...)
}

// Download opens a file. Close it.
func (c *Client) Download(ctx context.Context, fileID string) (io.ReadCloser, error) {
	address, err := c.address([]string{"files", fileID}, nil)
	if err != nil {
		return nil, err
	}
	request, err := c.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, c.unreachable(err.Error(), err)
	}
	return c.openStream(request, "")
}
