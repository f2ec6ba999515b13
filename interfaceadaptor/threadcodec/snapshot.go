package threadcodec

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
)

// wireSnapshot is the JSON of a state.
type wireSnapshot struct {
	Format   int                   `json:"format"`
	ID       wireID[thread.Thread] `json:"id"`
	Name     string                `json:"name"`
	Deleted  bool                  `json:"deleted,omitempty"`
	Members  *wireMembers          `json:"members"`
	Messages []wirePosting         `json:"messages"`
	Version  uint64                `json:"version"`
	Counter  uint64                `json:"seq_nr_counter,omitempty"` // in the first document's form: its last event
}

// snapshotFormat is the current version of the JSON.
const snapshotFormat = 5

// Snapshots is the codec of threads' states.
type Snapshots struct{}

// Size estimates the bytes that a state takes in memory.
func (Snapshots) Size(state thread.Thread) int {
	members, messages := state.Size()
	return 500 + 120*(members+messages)
}

// Encode encodes a state as JSON.
func (Snapshots) Encode(id string, version uint64, state thread.Thread) ([]byte, error) {
	parsed, err := ident.Parse[thread.Thread](id)
	if err != nil {
		return nil, fmt.Errorf("the thread's id %q: %v", id, err) //nolint:errorlint // not an error of the caller
	}
	m := state.Memento()
	messages := make([]wirePosting, len(m.Messages))
	for i, posting := range m.Messages {
		messages[i] = postingOf(posting)
	}
	size := 500 + 400*len(m.Members) + 150*len(m.Messages) // usually
	return json.Append(make([]byte, 0, size), wireSnapshot{
		Format:   snapshotFormat,
		ID:       wireID[thread.Thread]{parsed},
		Name:     m.Name.String(),
		Deleted:  m.Deleted,
		Members:  participantsOf(m.Members),
		Messages: messages,
		Version:  version,
	}, json.SortMapKeys)
}

// Decode decodes a state, its version and its thread's id. It fails for another format, with
// [es.ErrOutdated] for an older one: use an earlier snapshot or the events instead.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state thread.Thread, err error) {
	var w wireSnapshot
	var m thread.Memento
	if err = json.Unmarshal(payload, &w); err == nil {
		m, err = w.memento()
	}
	if errors.Is(err, es.ErrOutdated) {
		return "", 0, state, err
	}
	if err != nil {
		return "", 0, state, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	return w.ID.id.String(), w.Version, m.Thread(), nil
}

func (w wireSnapshot) memento() (m thread.Memento, err error) {
	if w.isFirstState() {
		w.Format = snapshotFormat
		for id, member := range w.Members.Members {
			member.Joined = 1
			w.Members.Members[id] = member
		}
	}
	switch {
	case w.Format < snapshotFormat:
		return m, fmt.Errorf("%w: its format is %d, not %d", es.ErrOutdated, w.Format, snapshotFormat)
	case w.Format > snapshotFormat:
		return m, fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat)
	case w.ID.id.IsZero() || w.Name == "" || w.Members == nil || w.Version == 0:
		return m, errors.New("id, name, members or version is missing")
	}
	m = thread.Memento{Deleted: w.Deleted, Events: w.Version, Name: writing.RecordedName(w.Name)}
	if m.Members, err = w.Members.participants(); err != nil {
		return m, err
	}
	m.Messages = make([]thread.Posting, len(w.Messages))
	for i, posting := range w.Messages {
		if m.Messages[i], err = posting.posting(); err != nil {
			return m, err
		}
	}
	return m, nil
}

// isFirstState reports whether it is the state after the first event, in the form of the first document, which has no
// format and no numbers of events. Later states in this form are outdated: their numbers are not known.
func (w wireSnapshot) isFirstState() bool {
	return w.Format == 0 && max(w.Version, w.Counter) == 1 && w.Members != nil && len(w.Messages) == 0
}

// wirePosting is a message of a state.
type wirePosting struct {
	ID     string `json:"id"`
	Sender string `json:"sender_id"`
	Digest string `json:"text_digest"` // hexadecimal
	Posted uint64 `json:"seq_nr"`
	Edited uint64 `json:"edited_seq_nr,omitempty"`
}

func postingOf(p thread.Posting) wirePosting {
	return wirePosting{p.ID.String(), p.Sender.String(), hex.EncodeToString(p.Text[:]), p.Posted, p.Edited}
}

func (w wirePosting) posting() (thread.Posting, error) {
	id, err := ident.Parse[thread.Message](w.ID)
	sender, noSender := ident.Parse[ident.UserAccount](w.Sender)
	digest, noDigest := hex.DecodeString(w.Digest)
	if errors.Join(err, noSender, noDigest) != nil || len(digest) != len(thread.TextDigest{}) || w.Posted == 0 {
		return thread.Posting{}, errors.New("a message must have id, sender_id, text_digest and seq_nr")
	}
	return thread.Posting{ID: id, Sender: sender, Text: thread.TextDigest(digest), Posted: w.Posted, Edited: w.Edited}, nil
}
