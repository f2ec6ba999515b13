package command

import (
	"crypto/rand"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
)

// newID makes the id of something that a command brings into being.
func newID[T any](s *Service) ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails: it says so
	return ident.New[T](s.settings.Clock(), entropy)
}

// complete gives a command the ids that it comes without.
func (s *Service) complete(command thread.Command) thread.Command {
	switch c := command.(type) {
	case thread.Create:
		c.Member = newID[thread.Member](s)
		return c
	case thread.AddMember:
		c.Member = newID[thread.Member](s)
		return c
	case thread.PostMessage:
		c.Message = newID[thread.Message](s)
		return c
	case thread.Rename, thread.Delete, thread.RemoveMember, thread.ChangeMemberRole, thread.EditMessage, thread.DeleteMessage:
	}
	return command
}
