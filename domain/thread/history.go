package thread

import (
	"cmp"
	"slices"
)

// MaySeeHistory returns why the user account may not see what the thread was like: [ErrThreadNotFound] for who is no
// member, [ErrNotAdmin] for who is no Admin. It shows what was edited and deleted.
func (t Thread) MaySeeHistory(user UserID) error {
	if t.mustBeMember(user) != nil {
		return ErrThreadNotFound
	}
	return t.mustBeAdmin(user)
}

// Participants returns the members in the order of joining.
func (t Thread) Participants() []Participant {
	return slices.SortedFunc(t.members.values(), func(a, b Participant) int {
		return cmp.Or(cmp.Compare(a.Joined, b.Joined), a.ID.Compare(b.ID))
	})
}

// MessagesAfter returns the first limit messages in the order of posting, after a message; the zero id means from the
// beginning. It fails with [ErrMessageNotFound] when the thread does not have that message. It looks at every message
// and holds few of them.
func (t Thread) MessagesAfter(after MessageID, limit int) ([]Posting, error) {
	from, exists := t.messages.get(after)
	if !exists && !after.IsZero() {
		return nil, ErrMessageNotFound
	}
	var first []Posting
	cut := func() {
		slices.SortFunc(first, func(a, b Posting) int { return cmp.Compare(a.Posted, b.Posted) })
		first = first[:min(limit, len(first))]
	}
	for message := range t.messages.values() {
		if message.Posted <= from.Posted {
			continue
		}
		if first = append(first, message); len(first) == 2*limit {
			cut()
		}
	}
	cut()
	return first, nil
}
