package threadcodec

import (
	"errors"
	"fmt"

	"github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// wireSnapshot is the JSON of a state. The first version had no format, and texts instead of digests; the second had no
// numbers of events; the third had an object for each message. All can be read.
type wireSnapshot struct {
	Format   int                   `json:"format"`
	ID       wireID[thread.Thread] `json:"id"`
	Name     string                `json:"name"`
	Deleted  bool                  `json:"deleted,omitempty"`
	Members  *wireMembers          `json:"members"`
	Messages wirePostings          `json:"messages"`
	Version  uint64                `json:"version"`
	Counter  uint64                `json:"seq_nr_counter,omitempty"` // in the first version: its last event
}

// snapshotFormat is the current version of the JSON.
const snapshotFormat = 4

// Snapshots is the codec of threads' states.
type Snapshots struct{}

// Size estimates the bytes that a state takes in memory.
func (Snapshots) Size(state thread.Thread) int {
	members, messages := state.Size()
	return 500 + 100*members + 50*messages
}

// Encode encodes a state as JSON.
func (Snapshots) Encode(id string, version uint64, state thread.Thread) ([]byte, error) {
	parsed, err := ident.Parse[thread.Thread](id)
	if err != nil {
		return nil, fmt.Errorf("the thread's id %q: %v", id, err) //nolint:errorlint // not an error of the caller
	}
	m := state.Memento()
	size := 500 + 400*len(m.Members) + 40*len(m.Messages) // usually
	return json.Append(make([]byte, 0, size), wireSnapshot{
		Format:   snapshotFormat,
		ID:       wireID[thread.Thread]{parsed},
		Name:     m.Name.String(),
		Deleted:  m.Deleted,
		Members:  participantsOf(m.Members),
		Messages: postingsOf(m.Messages),
		Version:  version,
	}, json.SortMapKeys)
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
	if m.Messages, err = w.Messages.messages(); err != nil {
		return fail(err)
	}
	return w.ID.id.String(), w.Version, m, nil
}
