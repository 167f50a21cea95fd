package herald

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// ErrorCodeUnreachable means that there was no response, or half of one: the outcome is unknown.
	ErrorCodeUnreachable ErrorCode = "unreachable"
	// ErrorCodeNotHerald means that somebody else responded, such as a proxy.
	ErrorCodeNotHerald ErrorCode = "not_herald"
)

// Error is a call that failed. It wraps the cause, if there is one, such as context.Canceled.
type Error struct {
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// Code is for programs to act on.
	Code ErrorCode
	// Title is what the code means, the same for every occurrence.
	Title string
	// Detail says what went wrong, and what to do.
	Detail string
	// RequestID names the request in the server's log.
	RequestID string
	// Fields are the invalid values of the request (422 only).
	Fields []FieldError
	// RetryAfter is the wait that the server asks for, or 0.
	RetryAfter time.Duration
	// Length is how long the message is, in Unicode code points (append_conflict only).
	Length int
	cause  error
	// isUnsent says that no server got the request, and that the same call fails again.
	isUnsent bool
}

// Error describes the failure, with its id for the server's log.
func (e *Error) Error() string {
	text := e.Detail
	if e.Status != 0 {
		title := ""
		if e.Title != "" && !strings.HasPrefix(e.Detail, e.Title) {
			title = e.Title + ": "
		}
		text = fmt.Sprintf("%d %s: %s%s", e.Status, e.Code, title, e.Detail)
	}
	for _, field := range e.Fields {
		text += fmt.Sprintf("; %s %s", field.Pointer, field.Detail)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return "herald: " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// IsUnknown says whether the outcome is unknown: what was asked may have happened. A send is then repeated with the same id.
func (e *Error) IsUnknown() bool {
	if e.isUnsent {
		return false
	}
	switch e.Status {
	case 0, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return true
	}
	return false
}

// CodeOf returns the code of a failed call, or "" if the error is none of this package.
func CodeOf(err error) ErrorCode {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

// failureOf reads application/problem+json (RFC 9457).
func (c *Client) failureOf(response *http.Response, text []byte) *Error {
	failure := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: readRetryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
	var problem Problem
	if err := json.Unmarshal(text, &problem); err != nil || problem.Code == "" || response.StatusCode < 400 {
		foreign := c.notHerald(response.StatusCode)
		failure.Code, failure.Detail = foreign.Code, foreign.Detail
		return failure
	}
	failure.Code, failure.Title, failure.Detail, failure.Fields = problem.Code, problem.Title, problem.Detail, problem.Errors
	if problem.Length != nil {
		failure.Length = *problem.Length
	}
	if failure.Detail == "" {
		failure.Detail = problem.Title
	}
	return failure
}

// notHerald is the failure of a response that is not from a Herald server.
func (c *Client) notHerald(status int) *Error {
	detail := fmt.Sprintf("%s responded with %d, but not like a Herald server", c.root, status)
	return &Error{Status: status, Code: ErrorCodeNotHerald, Detail: detail}
}

// errorOf makes an error of a problem that came within a stream.
func errorOf(problem *Problem, prefix string) *Error {
	if problem == nil {
		problem = &Problem{Code: ErrorCodeUnreachable, Detail: "the server gave no reason"}
	}
	return &Error{
		Status:    problem.Status,
		Code:      problem.Code,
		Detail:    prefix + problem.Detail,
		RequestID: problem.RequestID,
		Fields:    problem.Errors,
	}
}

// readRetryAfter reads seconds or a date (RFC 9110, section 10.2.3); 0 if there is neither.
func readRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
