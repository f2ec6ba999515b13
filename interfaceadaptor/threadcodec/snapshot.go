package threadcodec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// wireSnapshot is the JSON of a state. The first version had no format, and texts instead of digests; the second had no
// numbers of events. All can be read.
type wireSnapshot struct {
	Format   int                   `json:"format"`
	ID       wireID[thread.Thread] `json:"id"`
	Name     string                `json:"name"`
	Deleted  bool                  `json:"deleted,omitempty"`
	Members  *wireMembers          `json:"members"`
	Messages []wirePosting         `json:"messages"`
	Version  uint64                `json:"version"`
	Counter  uint64                `json:"seq_nr_counter,omitempty"` // in the first version: its last event
}

type wirePosting struct {
	ID     plainID[thread.Message]    `json:"id"`
	Sender plainID[ident.UserAccount] `json:"sender_id"`
	Digest string                     `json:"text_digest,omitempty"` // 16 hexadecimal digits
	Text   string                     `json:"text,omitempty"`        // in the first version only
	Posted uint64                     `json:"seq_nr,omitempty"`
	Edited uint64                     `json:"edited_seq_nr,omitempty"`
}

// snapshotFormat is the current version of the JSON.
const snapshotFormat = 3

// Snapshots is the codec of threads' states.
type Snapshots struct{}

// Size estimates the bytes that a state takes in memory.
func (Snapshots) Size(state thread.Thread) int { return 500 + 300*state.Size() }

// Encode encodes a state as JSON. Messages, which are nearly all of it, are encoded without reflection, which takes
// half the time.
func (Snapshots) Encode(id string, version uint64, state thread.Thread) ([]byte, error) {
	parsed, err := ident.Parse[thread.Thread](id)
	if err != nil {
		return nil, fmt.Errorf("the thread's id %q: %v", id, err) //nolint:errorlint // not an error of the caller
	}
	m := state.Memento()
	without, err := marshal(wireSnapshot{
		Format:   snapshotFormat,
		ID:       wireID[thread.Thread]{parsed},
		Name:     m.Name.String(),
		Deleted:  m.Deleted,
		Members:  participantsOf(m.Members),
		Messages: []wirePosting{},
		Version:  version,
	})
	if err != nil {
		return nil, err
	}
	const list = `"messages":[` // within a string the quotes would be escaped
	before, after, _ := bytes.Cut(without, []byte(list))
	payload := make([]byte, 0, len(without)+len(m.Messages)*postingSize)
	payload = append(append(payload, before...), list...)
	for i, message := range m.Messages {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = appendPosting(payload, message)
	}
	return append(payload, after...), nil
}

// postingSize is the usual size of a message's wirePosting with a comma, in bytes.
const postingSize = len(`{"id":"","sender_id":"","text_digest":"","seq_nr":123456},`) + 2*ulid.EncodedSize + 16

// appendPosting appends a wirePosting. Its values need no escapes.
func appendPosting(payload []byte, message thread.MessageDigest) []byte {
	payload = append(payload, `{"id":"`...)
	payload = append(payload, message.ID.String()...)
	payload = append(payload, `","sender_id":"`...)
	payload = append(payload, message.Sender.String()...)
	payload = fmt.Appendf(payload, `","text_digest":"%016x"`, uint64(message.Text))
	payload = appendNumber(payload, `,"seq_nr":`, message.Posted)
	payload = appendNumber(payload, `,"edited_seq_nr":`, message.Edited)
	return append(payload, '}')
}

// appendNumber appends a field, unless its number is 0.
func appendNumber(payload []byte, field string, number uint64) []byte {
	if number == 0 {
		return payload
	}
	return strconv.AppendUint(append(payload, field...), number, 10)
}

// Decode decodes a state, its version and its thread's id, from any version of the JSON so far. It fails for anything
// else, for example a newer format: use an older snapshot or the events instead.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state thread.Thread, err error) {
	id, version, m, err := decode(payload)
	if err != nil {
		return "", 0, state, err
	}
	return id, version, m.Thread(), nil
}

// NumberedSnapshots reads only states in which every event's number is known.
type NumberedSnapshots struct{ Snapshots }

// Decode is [Snapshots.Decode], but fails if numbers are missing.
func (NumberedSnapshots) Decode(payload []byte) (id string, version uint64, state thread.Thread, err error) {
	id, version, m, err := decode(payload)
	if err == nil && !m.Numbered() {
		err = errors.New("it comes from an earlier format, without the numbers of events; `threadctl snapshots take AID` replaces it once there is another event")
	}
	if err != nil {
		return "", 0, state, err
	}
	return id, version, m.Thread(), nil
}

func decode(payload []byte) (id string, version uint64, m thread.Memento, err error) {
	fail := func(err error) (string, uint64, thread.Memento, error) {
		return "", 0, thread.Memento{}, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	var w wireSnapshot
	if err := json.Unmarshal(payload, &w); err != nil {
		return fail(err)
	}
	switch {
	case w.Format > snapshotFormat:
		return fail(fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat))
	case w.ID.id.IsZero() || w.Name == "" || w.Members == nil || w.Version == 0:
		return fail(errors.New("id, name, members or version is missing"))
	}
	w.Version = max(w.Version, w.Counter)
	m = thread.Memento{Deleted: w.Deleted, Events: w.Version, Name: writing.RecordedName(w.Name)}
	if m.Members, err = w.Members.participants(); err != nil {
		return fail(err)
	}
	m.Messages = make([]thread.MessageDigest, 0, len(w.Messages))
	for _, posting := range w.Messages {
		message, err := posting.message()
		if err != nil {
			return fail(err)
		}
		m.Messages = append(m.Messages, message)
	}
	return w.ID.id.String(), w.Version, m, nil
}

func (w wirePosting) message() (thread.MessageDigest, error) {
	message := thread.MessageDigest{ID: w.ID.id, Sender: w.Sender.id, Posted: w.Posted, Edited: w.Edited}
	if message.ID.IsZero() || message.Sender.IsZero() {
		return message, errors.New("a message must have id and sender_id")
	}
	switch {
	case w.Digest != "":
		digest, err := strconv.ParseUint(w.Digest, 16, 64)
		message.Text = thread.TextDigest(digest)
		return message, err
	case w.Text != "":
		message.Text = thread.RecordedText(w.Text).Digest()
		return message, nil
	default:
		return message, errors.New("a message must have text_digest or text")
	}
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
