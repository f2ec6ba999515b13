package command

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/usecase"
)

// Request is a command and what comes with it.
type Request[C any] struct {
	Caller usecase.Caller
	// ID is the aggregate that the command is for: a ULID.
	ID string
	// Begins tells that ID was made for this command: there is nothing to load, and a repeat comes with another ID.
	Begins bool
	// Command is complete, with the ids of what it brings into being.
	Command C
	// Name is the command's, and Content what is asked for in a canonical form, without what is made anew for each
	// repeat. They tell repeats from other requests across versions of the program, so neither ever changes its form. Without
	// an IdempotencyKey there is no need of Content.
	Name, Content string
	// IfVersion is the version that the caller decided on; 0: any. At another version the command is rejected with a
	// [usecase.VersionMismatchError] and not retried.
	IfVersion uint64
	// IdempotencyKey makes a repeat of the request get the first answer; empty: every request is a command of its own.
	// Its scope is tenant, executor and name.
	IdempotencyKey string
}

// Result is the answer to a command that was accepted.
type Result struct {
	Key      usecase.Key
	Version  uint64            // of the aggregate, after the command
	About    map[string]string // what [Decider.Answer] told
	Replayed bool              // the command was handled before; this is the first answer again
}

// commandID is the same for every repeat of a keyed request, from whichever process: a hash of the key within its
// scope, in the form of a ULID. Without a key, every request is a new command.
func (r Request[C]) commandID(now time.Time) string {
	if r.IdempotencyKey == "" {
		return newID(now)
	}
	sum := hash(r.Caller.Tenant.String(), r.Caller.Executor, r.Name, r.IdempotencyKey)
	return ulid.ULID(sum[:16]).String()
}

// fingerprint tells requests apart that share a command id. IfVersion is not part of it: it is a condition on the
// request, not what is asked for.
func (r Request[C]) fingerprint() string {
	id := r.ID
	if r.Begins {
		id = ""
	}
	sum := hash(r.Name, id, r.Content)
	return hex.EncodeToString(sum[:])
}

// formerFingerprint is the length of fingerprints whose form depended on the program's build. They can't be compared with.
const formerFingerprint = 32

// of tells whether the receipt is of this request, as far as can be known.
func (r Receipt) of(fingerprint string) bool {
	return r.Fingerprint == fingerprint || len(r.Fingerprint) == formerFingerprint
}

// hash is that of the parts. None of them can hold a zero byte, so they can't run into one another.
func hash(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// newID makes the id of an event, or of a command without a key.
func newID(now time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now)) // fails with a clock that commands are refused for anyway
	_, _ = rand.Read(id[6:])            // never fails: it says so
	return id.String()
}
