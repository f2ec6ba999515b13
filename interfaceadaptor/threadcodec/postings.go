package threadcodec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/oklog/ulid/v2"
	"github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
)

// wirePostings are a snapshot's messages by column: each has the values of message after message, and JSON has bytes as
// base64. Snapshots are mostly messages, and columns take a quarter of the bytes and a seventh of the time of a list of
// objects, which earlier formats have.
type wirePostings struct {
	IDs     []byte                       `json:"ids"`                      // 16 bytes each
	Users   []plainID[ident.UserAccount] `json:"users"`                    // all senders, each once
	Senders numbers                      `json:"senders"`                  // places in Users
	Digests []byte                       `json:"text_digests"`             // 8 bytes each
	Posted  numbers                      `json:"seq_nrs"`                  // differences from the message before
	Edited  numbers                      `json:"edited_seq_nrs,omitempty"` // without zeros at the end
}

// Bytes of an id and of a text's digest.
const (
	idSize     = len(ulid.ULID{})
	digestSize = 8
)

// numbers are variable-length integers.
type numbers []byte

func (n *numbers) add(number int64) { *n = binary.AppendVarint(*n, number) }

// withoutZeros leaves out the zeros at the end: a zero is the only number whose last byte is 0.
func (n numbers) withoutZeros() numbers { return bytes.TrimRight(n, "\x00") }

// next takes the first number away. It returns 0 if there is none, or if it is broken; then it stays.
func (n *numbers) next() int64 {
	number, size := binary.Varint(*n)
	*n = (*n)[max(size, 0):]
	return number
}

func postingsOf(messages []thread.MessageDigest) wirePostings {
	w := wirePostings{IDs: make([]byte, 0, idSize*len(messages)), Digests: make([]byte, 0, digestSize*len(messages))}
	users := map[ident.UserID]int{}
	before := uint64(0)
	for _, message := range messages {
		id := message.ID.ULID()
		w.IDs = append(w.IDs, id[:]...)
		user, known := users[message.Sender]
		if !known {
			user = len(w.Users)
			users[message.Sender] = user
			w.Users = append(w.Users, plainID[ident.UserAccount]{message.Sender})
		}
		w.Senders.add(int64(user))
		w.Digests = binary.BigEndian.AppendUint64(w.Digests, uint64(message.Text))
		w.Posted.add(int64(message.Posted - before))
		w.Edited.add(int64(message.Edited))
		before = message.Posted
	}
	w.Edited = w.Edited.withoutZeros()
	return w
}

func (w *wirePostings) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		type columns wirePostings // without this method
		return json.Unmarshal(data, (*columns)(w))
	}
	messages, err := listed(data)
	*w = postingsOf(messages)
	return err
}

func (w wirePostings) messages() ([]thread.MessageDigest, error) {
	broken := errors.New("the columns of its messages do not fit together")
	messages := make([]thread.MessageDigest, len(w.IDs)/idSize)
	if count := len(messages); len(w.IDs) != idSize*count || len(w.Digests) != digestSize*count || min(len(w.Senders), len(w.Posted)) < count {
		return nil, broken
	}
	posted := int64(0)
	for i := range messages {
		sender := w.Senders.next()
		if sender < 0 || sender >= int64(len(w.Users)) {
			return nil, broken
		}
		posted += w.Posted.next()
		messages[i] = thread.MessageDigest{
			ID:     ident.FromULID[thread.Message](ulid.ULID(w.IDs[i*idSize:])),
			Sender: w.Users[sender].id,
			Text:   thread.TextDigest(binary.BigEndian.Uint64(w.Digests[i*digestSize:])),
			Posted: uint64(posted),
			Edited: uint64(w.Edited.next()),
		}
	}
	if len(w.Senders)+len(w.Posted)+len(w.Edited) > 0 {
		return nil, broken
	}
	return messages, nil
}

// wirePosting is a message of an earlier format.
type wirePosting struct {
	ID     plainID[thread.Message]    `json:"id"`
	Sender plainID[ident.UserAccount] `json:"sender_id"`
	Digest string                     `json:"text_digest"` // 16 hexadecimal digits
	Text   string                     `json:"text"`        // in the first version only
	Posted uint64                     `json:"seq_nr"`
	Edited uint64                     `json:"edited_seq_nr"`
}

// listed reads the messages of an earlier format.
func listed(data []byte) (messages []thread.MessageDigest, err error) {
	var list []wirePosting
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	messages = make([]thread.MessageDigest, len(list))
	for i, posting := range list {
		if messages[i], err = posting.message(); err != nil {
			return nil, err
		}
	}
	return messages, nil
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
