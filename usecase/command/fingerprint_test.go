package command

import (
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// A repeat can come after the program has been replaced by its next version: what a request is recognised by must stay what
// it is. When a command gets another field, requests without it keep the fingerprint that they have here.
func TestFingerprintsStayWhatTheyAre(t *testing.T) {
	user := ident.New[ident.UserAccount](time.UnixMilli(1), [10]byte{1})
	other := ident.New[ident.UserAccount](time.UnixMilli(2), [10]byte{2})
	id := ident.New[thread.Thread](time.UnixMilli(3), [10]byte{3})
	message := ident.New[thread.Message](time.UnixMilli(4), [10]byte{4})
	name, text := writing.RecordedName("tea"), thread.RecordedText("Anyone for a cup?")
	for _, c := range []struct {
		command thread.Command
		want    string
	}{
		{thread.Create{Executor: user, Name: name}, "1d4cd3715afcb8c7e52814cc64ca183b"},
		{thread.Rename{Executor: user, Name: name}, "1ea49bb9aa0ec749492eb10d26a44a4c"},
		{thread.Delete{Executor: user}, "27921479a78dbf48e991801434ab6950"},
		{thread.AddMember{Executor: user, User: other, Role: thread.RoleAdmin}, "83482a57f230f65ae2f5e3c9b1c41113"},
		{thread.RemoveMember{Executor: user, User: other}, "296c6f9031af607586fe4dc7a08378b2"},
		{thread.ChangeMemberRole{Executor: user, User: other, Role: thread.RoleMember}, "9e412c5c911ab476c444ae56aaba332f"},
		{thread.PostMessage{Executor: user, Text: text}, "043db9e8d5bf36a4b9229f2557fe4621"},
		{thread.EditMessage{Executor: user, Message: message, Text: text}, "06f7602cf88ed328a38cd64cb0d18efc"},
		{thread.DeleteMessage{Executor: user, Message: message}, "b2c2c53e183e269969521f398179f6e5"},
	} {
		if got := (Request{Thread: id, Command: c.command}).fingerprint(); got != c.want {
			t.Errorf("%T has the fingerprint %q, want %q", c.command, got, c.want)
		}
	}
}
