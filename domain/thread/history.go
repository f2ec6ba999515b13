package thread

import (
	"cmp"
	"slices"

	"github.com/oklog/ulid/v2"
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
	members := make([]Participant, 0, t.members.size)
	t.members.all(func(_ ulid.ULID, member Participant) { members = append(members, member) })
	slices.SortFunc(members, func(a, b Participant) int {
		return cmp.Or(cmp.Compare(a.Joined, b.Joined), a.ID.Compare(b.ID))
	})
	return members
}

// MessagesAfter returns the first limit messages in the order of posting, after a message; the zero id means from the
// beginning. It fails with [ErrMessageNotFound] when the thread does not have that message. It looks at every message
// and holds few of them.
func (t Thread) MessagesAfter(after MessageID, limit int) ([]MessageDigest, error) {
	var from posting
	if !after.IsZero() {
		exists := false
		if from, exists = t.messages.get(after.ULID()); !exists {
			return nil, ErrMessageNotFound
		}
	}
	var first []MessageDigest
	cut := func() {
		slices.SortFunc(first, func(a, b MessageDigest) int { return cmp.Compare(a.Posted, b.Posted) })
		first = first[:min(limit, len(first))]
	}
	t.messages.all(func(id ulid.ULID, p posting) {
		if p.posted <= from.posted {
			return
		}
		if first = append(first, p.digest(id)); len(first) == 2*limit {
			cut()
		}
	})
	cut()
	return first, nil
}
