package eventcodec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"example.com/threads/domain/thread"
)

// wireSnapshot is the JSON of a state. The first version had no format and its messages had texts instead of digests;
// one reader serves both.
type wireSnapshot struct {
	Format   int                   `json:"format"`
	ID       wireID[thread.Thread] `json:"id"`
	Name     string                `json:"name"`
	Deleted  bool                  `json:"deleted,omitempty"`
	Members  *wireMembers          `json:"members"`
	Messages []wirePosting         `json:"messages"`
	Version  uint64                `json:"version"`
}

type wirePosting struct {
	ID     plainID[thread.Message]     `json:"id"`
	Sender plainID[thread.UserAccount] `json:"sender_id"`
	Digest string                      `json:"text_digest,omitempty"` // 16 hexadecimal digits
	Text   string                      `json:"text,omitempty"`        // in the first version only
}

// snapshotFormat is the version of the JSON that is written today.
const snapshotFormat = 2

// EncodeSnapshot writes a state as JSON.
func EncodeSnapshot(id thread.ID, state thread.Thread) ([]byte, error) {
	m := state.Memento()
	w := wireSnapshot{
		Format:   snapshotFormat,
		ID:       wireID[thread.Thread]{id},
		Name:     m.Name.String(),
		Deleted:  m.Deleted,
		Members:  membersOf(m.Members),
		Messages: make([]wirePosting, 0, len(m.Messages)),
		Version:  m.Version,
	}
	for _, message := range m.Messages {
		w.Messages = append(w.Messages, wirePosting{
			ID:     plainID[thread.Message]{message.ID},
			Sender: plainID[thread.UserAccount]{message.Sender},
			Digest: fmt.Sprintf("%016x", uint64(message.Text)),
		})
	}
	return marshal(w)
}

// DecodeSnapshot reads a state and whose it is, in today's JSON or the first version's. What it can't read, a newer
// format included, is an error: replay from an older snapshot or from the first event instead.
func DecodeSnapshot(payload []byte) (thread.ID, thread.Thread, error) {
	fail := func(err error) (thread.ID, thread.Thread, error) {
		return thread.ID{}, thread.Thread{}, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // no fault of the one who asks: see DecodeError
	}
	var w wireSnapshot
	if err := json.Unmarshal(payload, &w); err != nil {
		return fail(err)
	}
	switch {
	case w.Format > snapshotFormat:
		return fail(fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat))
	case w.ID.id.IsZero() || w.Name == "" || w.Members == nil || w.Version == 0:
		return fail(errors.New("id, name, members and version must be there"))
	}
	m := thread.Memento{Version: w.Version, Deleted: w.Deleted, Name: thread.RecordedName(w.Name)}
	var err error
	if m.Members, err = w.Members.members(); err != nil {
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
	return w.ID.id, m.Thread(), nil
}

func (w wirePosting) message() (thread.MessageDigest, error) {
	message := thread.MessageDigest{ID: w.ID.id, Sender: w.Sender.id}
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
