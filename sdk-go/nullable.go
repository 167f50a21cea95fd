package herald

import (
	"bytes"
	"encoding/json"
)

// Nullable is a member of a request that may be absent, null or a value: absent usually leaves something as it is, and null
// clears it. The zero value is absent.
type Nullable[T any] struct {
	value T
	state nullableState
}

type nullableState uint8

const (
	isAbsent nullableState = iota
	isNull
	isValue
)

// Value makes a member that has a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{value: value, state: isValue} }

// Null makes a member that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{state: isNull} }

// Get returns the value, if there is one.
func (n Nullable[T]) Get() (value T, ok bool) { return n.value, n.state == isValue }

// IsZero says whether the member is absent.
func (n Nullable[T]) IsZero() bool { return n.state == isAbsent }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.state != isValue {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*n = Null[T]()
		return nil
	}
	n.state = isValue
	return json.Unmarshal(text, &n.value)
}
