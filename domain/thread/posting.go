package thread

import (
	"crypto/sha256"
	"encoding/binary"
	"unique"

	"example.com/threads/domain/ident"
)

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

func (MessagePosted) isEvent()  {}
func (MessageEdited) isEvent()  {}
func (MessageDeleted) isEvent() {}

// Message is a message in a thread.
type Message struct {
	ID     MessageID
	Sender UserID
	Text   Text
}

// Why commands on a thread's messages are rejected. Compare with [errors.Is].
var (
	ErrMessageNotFound = ident.NotFound("message_not_found", "the message does not exist in the thread")
	ErrNotSender       = ident.Forbidden("not_the_sender", "only the sender of the message may do this")
	ErrTextUnchanged   = ident.Conflict("text_unchanged", "the message has this text already")
)

// posting is what decisions need of a message. A process keeps millions of them, so they are small: a sender is kept
// once for all messages, and the numbers are of 4 bytes, because no thread comes near 2³² events.
type posting struct {
	sender unique.Handle[UserID]
	text   TextDigest
	posted uint32 // number of the event that posted it; 0: not known, see [Memento.Numbered]
	edited uint32 // number of the event that last gave it another text; 0: none has
}

// TextDigest is the first 8 bytes of a text's SHA-256, to compare texts without keeping them.
type TextDigest uint64

// Digest returns the digest of the text.
func (t Text) Digest() TextDigest {
	sum := sha256.Sum256([]byte(t.value))
	return TextDigest(binary.BigEndian.Uint64(sum[:]))
}

func (t Thread) postMessage(c PostMessage) (Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	return MessagePosted{Message{ID: c.Message, Sender: c.Executor, Text: c.Text}}, nil
}

func (t Thread) editMessage(c EditMessage) (Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	message, exists := t.messages.get(c.Message.ULID())
	switch {
	case !exists:
		return nil, ErrMessageNotFound
	case message.sender.Value() != c.Executor:
		return nil, ErrNotSender
	case message.text == c.Text.Digest():
		return nil, ErrTextUnchanged
	}
	return MessageEdited{Message{ID: c.Message, Sender: c.Executor, Text: c.Text}}, nil
}

func (t Thread) deleteMessage(c DeleteMessage) (Event, error) {
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	message, exists := t.messages.get(c.Message.ULID())
	switch {
	case !exists:
		return nil, ErrMessageNotFound
	case message.sender.Value() != c.Executor && t.mustBeAdmin(c.Executor) != nil:
		return nil, ErrNotSender
	}
	return MessageDeleted{Message: c.Message}, nil
}
