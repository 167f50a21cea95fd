package herald

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// NewID returns a UUID (version 7, RFC 9562, section 5.7): random, but sorted by the time of its creation, which suits the
// server's index. Sends without an id get one.
func NewID() string { return newIDAt(time.Now()) }

func newIDAt(now time.Time) string {
	var id [16]byte
	rand.Read(id[:])
	millis := uint64(now.UnixMilli())
	binary.BigEndian.PutUint32(id[0:], uint32(millis>>16))
	binary.BigEndian.PutUint16(id[4:], uint16(millis))
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
