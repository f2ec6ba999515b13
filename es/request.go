package es

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Request is a command with its caller and conditions.
type Request[C any] struct {
	Caller Caller
	// ID is the ULID of the aggregate.
	ID string
	// Begins is set for a command that creates its aggregate: ID is new, and a repeat has another one.
	Begins bool
	// Command is complete, including the ids of the things it creates.
	Command C
	// Name is the command's name. Content, needed only with an IdempotencyKey, is the request as text, without ids that
	// are new in each repeat. Name and Content tell a repeat from another request; so their form must never change.
	Name, Content string
	// FormerContent, if not empty, is the content in another form, such as that before a setting was changed.
	FormerContent string
	// IfVersion is the version that the caller expects; 0: any, as with Begins. At another one, the answer is a
	// [VersionMismatchError], unless the decider answers [Forbidden] or [NotFound], or rejects the command in a state
	// that [Aggregate.Usable] refuses.
	IfVersion uint64
	// IdempotencyKey makes repeats of the request get the first answer. Its scope is tenant, executor and name.
	IdempotencyKey string
}

func (r Request[C]) check() error {
	if r.IdempotencyKey != "" && r.Content == "" {
		return fmt.Errorf("command %s has an IdempotencyKey without the Content, by which its repeat is told from another request", r.Name)
	}
	return r.Caller.check()
}

// Result is the answer to a command that was accepted.
type Result struct {
	Key      AggregateID
	Version  uint64            // of the aggregate, after the command
	About    map[string]string // the result of [Aggregate.Answer]
	Replayed bool              // true: the command was handled before, and this is the first answer
}

// commandID returns the command's id. With an idempotency key it is a hash of the key within its scope, in the form of
// a ULID: the same for every repeat. Without a key it is new.
func (r Request[C]) commandID(now time.Time) string {
	if r.IdempotencyKey == "" {
		return newID(now)
	}
	sum := hash(r.Caller.Tenant.String(), r.Caller.Executor, r.Name, r.IdempotencyKey)
	return ulid.ULID(sum[:16]).String()
}

// receiptLifetime is how long a repeat with the same idempotency key gets the first answer at least. A process manager
// or an import that stood still repeats its commands after days, too.
const receiptLifetime = 30 * 24 * time.Hour

// receipt returns the result as it is stored: the aggregate's id in the field <type>_id, the version, and Result.About.
func (r Request[C]) receipt(commandID string, result Result, now time.Time) (Receipt, error) {
	fields := map[string]any{result.Key.Type + "_id": result.Key.ID, "version": result.Version}
	for name, value := range result.About {
		if fields[name] != nil {
			return Receipt{}, fmt.Errorf("the Answer of %s must not have the name %q, which the receipt of each command has", result.Key.Type, name)
		}
		fields[name] = value
	}
	answer, err := json.Marshal(fields)
	return Receipt{CommandID: commandID, Fingerprint: r.fingerprint(r.Content), Answer: answer, ExpiresAt: now.Add(receiptLifetime)}, err
}

// repeated returns the result of the first execution from its receipt, for a repeat of the request.
func (r Request[C]) repeated(receipt Receipt, aggregateType string) (Result, error) {
	if !r.isRepeatOf(receipt) {
		return Result{}, ErrKeyReused
	}
	result := Result{Key: AggregateID{Tenant: r.Caller.Tenant, Type: aggregateType}, About: map[string]string{}, Replayed: true}
	var fields map[string]any
	err := json.Unmarshal(receipt.Answer, &fields)
	for name, value := range fields {
		switch value := value.(type) {
		case string:
			result.About[name] = value
		case float64: // the version is the only number
			result.Version = uint64(value)
		}
	}
	result.Key.ID = result.About[aggregateType+"_id"]
	delete(result.About, aggregateType+"_id")
	if err != nil || result.Key.ID == "" || result.Version == 0 {
		return Result{}, fmt.Errorf("the receipt of command %s can't be read: %q: %v", receipt.CommandID, receipt.Answer, err) //nolint:errorlint // not an error of the current caller
	}
	return result, nil
}

// isRepeatOf reports whether the receipt is of the same request.
func (r Request[C]) isRepeatOf(receipt Receipt) bool {
	return receipt.Fingerprint == r.fingerprint(r.Content) || r.FormerContent != "" && receipt.Fingerprint == r.fingerprint(r.FormerContent)
}

// fingerprint distinguishes requests with the same command id. IfVersion is a condition, not part of what is requested.
func (r Request[C]) fingerprint(content string) string {
	id := r.ID
	if r.Begins {
		id = ""
	}
	sum := hash(r.Name, id, content)
	return hex.EncodeToString(sum[:])
}

// hash returns the SHA-256 of the parts. They are joined with zero bytes, which only the last part may contain.
func hash(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// newID returns a new ULID for an event, or for a command without a key.
func newID(now time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now)) // fails only for times that now() refuses
	_, _ = rand.Read(id[6:])            // never fails, as documented
	return id.String()
}
