package thread

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
)

// MaxTextLength is the limit of a [Text], in Unicode code points after trimming.
const MaxTextLength = 4000

// Text is what a message says: 1 to [MaxTextLength] code points, newlines and tabs among them; zero: no text.
type Text struct{ value string }

// ParseText takes trimmed text as a message's text. One that is not allowed, such as one too long, is an
// [ident.InvalidError].
func ParseText(written string) (Text, error) {
	value, err := writing.Parse("text", written, MaxTextLength, "\n\t")
	return Text{value}, err
}

// RecordedText takes a text as it stands in the journal: the limits may have been others when it was written.
func RecordedText(written string) Text { return Text{written} }

func (t Text) String() string { return t.value }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseText].
func (t *Text) UnmarshalText(text []byte) (err error) {
	*t, err = ParseText(string(text))
	return err
}

// TextDigest is the first 8 bytes of a text's SHA-256. The state has it to tell whether an edit changes anything.
type TextDigest [8]byte

func (t Text) Digest() TextDigest {
	sum := sha256.Sum256([]byte(t.value))
	return TextDigest(sum[:])
}

// MarshalText implements [encoding.TextMarshaler] with hexadecimal digits.
func (d TextDigest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

func (d *TextDigest) UnmarshalText(text []byte) error {
	digest, err := hex.DecodeString(string(text))
	if err != nil || len(digest) != len(d) {
		return &ident.InvalidError{Field: "digest", Reason: "must be 16 hexadecimal digits"}
	}
	*d = TextDigest(digest)
	return nil
}

// PostMessage requests to post a message.
type PostMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// EditMessage requests another text for the executor's message.
type EditMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// DeleteMessage requests to delete a message.
type DeleteMessage struct {
	Executor UserID
	Message  MessageID
}

func (PostMessage) name() string   { return "thread.PostMessage" }
func (EditMessage) name() string   { return "thread.EditMessage" }
func (DeleteMessage) name() string { return "thread.DeleteMessage" }

// MessagePosted adds a message at the end of the thread.
type MessagePosted struct{ Message Message }

// MessageEdited gives a message another text.
type MessageEdited struct{ Message Message }

// MessageDeleted takes a message away.
type MessageDeleted struct{ Message MessageID }

// Message is a message in a thread.
type Message struct {
	ID     MessageID
	Sender UserID
	Text   Text
}

// Posting is a message as the state keeps it.
type Posting struct {
	ID     MessageID
	Sender UserID
	Text   TextDigest
	Posted uint64 // number of the event that posted it
	Edited uint64 // number of the event that last edited it; 0: none has
}

// postings is what the state keeps of the messages.
type postings struct {
	messages immutableMap[MessageID, Posting]
}

// Postings is the same in a [Memento].
type Postings struct {
	Messages []Posting // by id
}

func (p postings) open() Postings {
	return Postings{slices.SortedFunc(p.messages.values(), func(a, b Posting) int { return a.ID.Compare(b.ID) })}
}

func (p Postings) closed() postings {
	return postings{mapOf(p.Messages, func(p Posting) MessageID { return p.ID })}
}

// Why commands on a thread's messages are rejected. Compare with [errors.Is].
var (
	ErrMessageNotFound = ident.NotFound("message_not_found", "the message does not exist in the thread")
	ErrNotSender       = ident.Forbidden("not_the_sender", "only the sender of the message may do this")
	ErrTextUnchanged   = ident.Conflict("text_unchanged", "the message has this text already")
)

func (c PostMessage) decide(t Thread) ([]Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	return []Event{MessagePosted{Message{ID: c.Message, Sender: c.Executor, Text: c.Text}}}, nil
}

func (c EditMessage) decide(t Thread) ([]Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	message, exists := t.messages.get(c.Message)
	switch {
	case !exists:
		return nil, ErrMessageNotFound
	case message.Sender != c.Executor:
		return nil, ErrNotSender
	case message.Text == c.Text.Digest():
		return nil, ErrTextUnchanged
	}
	return []Event{MessageEdited{Message{ID: c.Message, Sender: c.Executor, Text: c.Text}}}, nil
}

func (c DeleteMessage) decide(t Thread) ([]Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	message, exists := t.messages.get(c.Message)
	switch {
	case !exists:
		return nil, ErrMessageNotFound
	case message.Sender != c.Executor && t.mustBeAdmin(c.Executor) != nil:
		return nil, ErrNotSender
	}
	return []Event{MessageDeleted{Message: c.Message}}, nil
}

func (e MessagePosted) apply(t Thread) Thread {
	posting := Posting{ID: e.Message.ID, Sender: e.Message.Sender, Text: e.Message.Text.Digest(), Posted: t.events}
	t.messages = t.messages.with(posting.ID, posting)
	return t
}

func (e MessageEdited) apply(t Thread) Thread {
	if posting, exists := t.messages.get(e.Message.ID); exists {
		posting.Text, posting.Edited = e.Message.Text.Digest(), t.events
		t.messages = t.messages.with(posting.ID, posting)
	}
	return t
}

func (e MessageDeleted) apply(t Thread) Thread {
	t.messages = t.messages.without(e.Message)
	return t
}
