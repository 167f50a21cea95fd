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
	response, failure := c.roundTrip(request)
	if failure != nil {
		return nil, failure
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.noResponse(request, err)
	}
	var file File
	if !isSuccess(response, jsonType) || json.Unmarshal(text, &file) != nil {
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

// FileURL returns the address of a file, for programs that send the key or, as "Authorization: Bearer", the token of a user who may
// have the file. For an image or a link in a page, use fileUrl of the client in the page, whose addresses need neither.
func (c *Client) FileURL(fileID string) (string, error) {
	return c.address([]string{"files", fileID}, nil)
}

// DownloadOption changes which file a download is of.
type DownloadOption func(*downloadOptions)

type downloadOptions struct{ organization string }

// FromOrganization names the organization of a file. A key that is bound to no organization needs it for a file whose id several
// organizations have, as an import can bring one.
func FromOrganization(org string) DownloadOption {
	return func(options *downloadOptions) { options.organization = org }
}

// Download opens a file. Its bytes come as fast as they are read. Close it.
func (c *Client) Download(ctx context.Context, fileID string, options ...DownloadOption) (io.ReadCloser, error) {
	var chosen downloadOptions
	for _, option := range options {
		option(&chosen)
	}
	address, err := c.address([]string{"files", fileID}, query{param("organization", chosen.organization)})
	if err != nil {
		return nil, err
	}
	request, err := c.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, c.unreachable(err.Error(), err)
	}
	request.Header.Del("Accept")
	response, failure := c.roundTrip(request)
	if failure != nil {
		return nil, failure
	}
	if response.StatusCode == http.StatusFound { // to the store that keeps the bytes, which the key is not for
		defer response.Body.Close()
		io.CopyN(io.Discard, response.Body, 1<<16) // so that the connection is kept
		return c.downloadFrom(ctx, response)
	}
	return c.opened(response)
}

func (c *Client) downloadFrom(ctx context.Context, redirect *http.Response) (io.ReadCloser, error) {
	location, err := redirect.Location()
	if err != nil { // it quotes the address, which may be signed
		return nil, c.notHerald(redirect.StatusCode)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location.String(), nil)
	if err != nil {
		return nil, c.notHerald(redirect.StatusCode)
	}
	response, failure := c.roundTrip(request)
	if failure != nil {
		return nil, failure
	}
	return c.opened(response)
}

// opened returns the body of a successful response, or what was wrong.
func (c *Client) opened(response *http.Response) (io.ReadCloser, error) {
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	return nil, c.failed(response)
}
