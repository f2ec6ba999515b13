package thread

import "example.com/threads/domain/ident"

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

// Posting is a message as the state keeps it.
type Posting struct {
	ID     MessageID
	Sender UserID
	Text   TextDigest
	Posted uint64 // number of the event that posted it
	Edited uint64 // number of the event that last edited it; 0: none has
}

// Why commands on a thread's messages are rejected. Compare with [errors.Is].
var (
	ErrMessageNotFound = ident.NotFound("message_not_found", "the message does not exist in the thread")
	ErrNotSender       = ident.Forbidden("not_the_sender", "only the sender of the message may do this")
	ErrTextUnchanged   = ident.Conflict("text_unchanged", "the message has this text already")
)

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
	message, exists := t.messages.get(c.Message)
	switch {
	case !exists:
		return nil, ErrMessageNotFound
	case message.Sender != c.Executor:
		return nil, ErrNotSender
	case message.Text == c.Text.Digest():
		return nil, ErrTextUnchanged
	}
	return MessageEdited{Message{ID: c.Message, Sender: c.Executor, Text: c.Text}}, nil
}

func (t Thread) deleteMessage(c DeleteMessage) (Event, error) {
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
	return MessageDeleted{Message: c.Message}, nil
}
