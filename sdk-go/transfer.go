package herald

import (
	"context"
	"io"
	"iter"
	"net/http"
)

// ImportOptions say how an import is made.
type ImportOptions struct {
	// DryRun checks the lines: nothing is stored.
	DryRun bool
}

// Import stores users, conversations, participants, messages of the past and inboxes, and yields the report while it goes on: how far it
// is, lines that were not imported, and the end. After a failure, which is yielded last, import all again: what is there already
// is skipped. The lines are taken by another goroutine, as those of SendBatch are.
func (c *Client) Import(ctx context.Context, org string, lines iter.Seq[ImportLine], options ImportOptions) iter.Seq2[ImportReport, error] {
	return func(yield func(ImportReport, error) bool) {
		text := toLines(lines)
		defer text.Close()
		c.readImport(ctx, org, text, options, yield)
	}
}

// ImportLines is Import for lines that are written already, such as those of an export.
func (c *Client) ImportLines(ctx context.Context, org string, lines io.Reader, options ImportOptions) iter.Seq2[ImportReport, error] {
	return func(yield func(ImportReport, error) bool) { c.readImport(ctx, org, lines, options, yield) }
}

func (c *Client) readImport(ctx context.Context, org string, lines io.Reader, options ImportOptions, yield func(ImportReport, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address, err := c.address(organization(org, "import"), query{flagParam("dry_run", options.DryRun)})
	if err != nil {
		yield(ImportReport{}, err)
		return
	}
	body, err := c.openLines(ctx, http.MethodPost, address, lines)
	if err != nil {
		yield(ImportReport{}, err)
		return
	}
	defer body.Close()
	for report, err := range readLines[ImportReport](body) {
		if err != nil {
			yield(ImportReport{}, c.unreachable("the response broke off: "+err.Error(), err))
			return
		}
		if report.Done != nil && !*report.Done && report.Problem != nil {
			yield(report, errorOf(report.Problem, "the import ended early: "))
			return
		}
		if !yield(report, nil) || report.Done != nil {
			return
		}
	}
	yield(ImportReport{}, c.unreachable("the response ended before the import", io.ErrUnexpectedEOF))
}

// ExportOrganization opens an export of the organization: lines that an import takes, and [ReadExport] reads. Close it. Reading
// fails if it breaks off.
func (c *Client) ExportOrganization(ctx context.Context, org string) (io.ReadCloser, error) {
	return c.export(ctx, organization(org, "export"))
}

// ExportUser opens an export of what is stored of a user, as ExportOrganization does.
func (c *Client) ExportUser(ctx context.Context, org, uid string) (io.ReadCloser, error) {
	return c.export(ctx, organization(org, "users", uid, "export"))
}

func (c *Client) export(ctx context.Context, path []string) (io.ReadCloser, error) {
	address, err := c.address(path, nil)
	if err != nil {
		return nil, err
	}
	return c.openLines(ctx, http.MethodGet, address, nil)
}

// ReadExport yields the lines of an export. A failure is yielded last.
func ReadExport(export io.Reader) iter.Seq2[ExportLine, error] { return readLines[ExportLine](export) }
