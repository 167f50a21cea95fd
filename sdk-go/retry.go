package herald

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

const maxRetryAfter = time.Minute

// backoff is exponential, with jitter: each wait is a random time between half of a ceiling and the ceiling, which doubles from least
// to most, so that many callers do not return at the same moment, and none gives up long before the others.
type backoff struct{ least, most time.Duration }

var defaultBackoff = backoff{least: 250 * time.Millisecond, most: 8 * time.Second}

// wait returns the wait before the retry of this number, counted from 0.
func (b backoff) wait(retry int) time.Duration {
	ceiling := min(b.least<<min(retry, 16), b.most)
	return time.Duration((0.5 + 0.5*rand.Float64()) * float64(ceiling))
}

// withRetries runs an attempt until it succeeds, its failure is final, or no retries are left.
func (c *Client) withRetries(ctx context.Context, isSafe bool, attempt func(context.Context) *Error) error {
	for retry := 0; ; retry++ {
		failure := attempt(ctx)
		if failure == nil {
			return nil
		}
		mayRetry := failure.Status == http.StatusTooManyRequests || (isSafe && failure.IsUnknown())
		if !mayRetry || retry >= c.retries || failure.RetryAfter > maxRetryAfter || ctx.Err() != nil {
			return failure
		}
		if !sleep(ctx, failure.RetryAfter+c.backoff.wait(retry)) {
			return failure
		}
	}
}

// sleep returns false at once if the context ends before the wait does, or has ended when it does.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
