package thread

import (
	"crypto/sha256"
	"encoding/binary"
)

// posting is what decisions need of a message.
type posting struct {
	sender UserID
	text   TextDigest
}

// TextDigest is the first 8 bytes of a text's SHA-256, to compare texts without keeping them.
type TextDigest uint64

// Digest returns the digest of the text.
func (t Text) Digest() TextDigest {
	sum := sha256.Sum256([]byte(t.value))
	return TextDigest(binary.BigEndian.Uint64(sum[:]))
}

func postingOf(m Message) posting { return posting{sender: m.Sender, text: m.Text.Digest()} }

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
	case message.sender != c.Executor:
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
	case message.sender != c.Executor && t.mustBeAdmin(c.Executor) != nil:
		return nil, ErrNotSender
	}
	return MessageDeleted{Message: c.Message}, nil
}
