package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Request is a command and what comes with it.
type Request struct {
	Caller usecase.Caller
	// Thread is the thread that the command is for; the zero value with [thread.Create], which begins a new one.
	Thread thread.ID
	// Command comes without the ids of what it brings into being: the service makes them.
	Command thread.Command
	// IfVersion is the version that the caller decided on; 0: any. At another version the command is rejected with a
	// [usecase.VersionMismatchError] and not retried.
	IfVersion uint64
	// IdempotencyKey makes a repeat of the request get the first answer; empty: every request is a command of its own.
	// Its scope is tenant, executor and type of command.
	IdempotencyKey string
}

// Result is the answer to a command that was accepted.
type Result struct {
	Thread   thread.ID
	Version  uint64           // of the thread, after the command
	Member   thread.MemberID  // the member that the command was about, if any
	Message  thread.MessageID // the message that the command was about, if any
	Replayed bool             // the command was handled before; this is the first answer again
}

// commandID is the same for every repeat of a keyed request, from whichever process: a hash of the key within its
// scope, in the form of a ULID. Without a key, every request is a new command.
func (s *Service) commandID(r Request) string {
	if r.IdempotencyKey == "" {
		return newID[thread.Command](s).String()
	}
	// No part can hold a zero byte, so the parts can't run into one another.
	scope := strings.Join([]string{r.Caller.Tenant.String(), r.Caller.Executor, fmt.Sprintf("%T", r.Command), r.IdempotencyKey}, "\x00")
	sum := sha256.Sum256([]byte(scope))
	return ulid.ULID(sum[:16]).String()
}

// fingerprint tells requests apart that share a command id. IfVersion is not part of it: it is a condition on the
// request, not what is asked for.
func (r Request) fingerprint() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %T %+v", r.Thread, r.Command, r.Command))
	return hex.EncodeToString(sum[:16])
}
