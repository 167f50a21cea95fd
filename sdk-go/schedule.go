package herald

import (
	"context"
	"iter"
	"net/http"
)

// Schedule schedules a send, or replaces the one of this id while it waits. It is checked now, and sent once, at its time.
func (c *Client) Schedule(ctx context.Context, org, id string, order PutScheduledRequest) (*ScheduledSend, error) {
	return put[ScheduledSend](ctx, c, order, scheduled(org, id)...)
}

// TrySchedule checks a send and returns whom it would reach now. Nothing is scheduled.
func (c *Client) TrySchedule(ctx context.Context, org, id string, order PutScheduledRequest) (*DryRun, error) {
	return c.try(ctx, http.MethodPut, scheduled(org, id), order)
}

// GetScheduled reads a scheduled send, or what became of it.
func (c *Client) GetScheduled(ctx context.Context, org, id string) (*ScheduledSend, error) {
	return get[ScheduledSend](ctx, c, nil, scheduled(org, id)...)
}

// CancelScheduled cancels a scheduled send: it is never sent. It fails with already_sent if it was, or has failed.
func (c *Client) CancelScheduled(ctx context.Context, org, id string) error {
	return c.remove(ctx, nil, scheduled(org, id)...)
}

// ListScheduled reads a page of scheduled sends by time: those of one state or, if it is empty, all.
func (c *Client) ListScheduled(ctx context.Context, org string, state ScheduledState, page PageOptions) (*Page[ScheduledSend], error) {
	return listPage[ScheduledSend](ctx, c, scheduledOf(org, state), page)
}

// Scheduled yields scheduled sends by time: those of one state or, if it is empty, all.
func (c *Client) Scheduled(ctx context.Context, org string, state ScheduledState) iter.Seq2[ScheduledSend, error] {
	return each[ScheduledSend](ctx, c, scheduledOf(org, state))
}

func scheduled(org, id string) []string { return organization(org, "scheduled", id) }

func scheduledOf(org string, state ScheduledState) list {
	return list{path: organization(org, "scheduled"), query: query{param("state", string(state))}}
}
