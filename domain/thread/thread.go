// Package thread is the domain model of chat threads.
//
// A command is a request, an event is a fact, and a [Thread] is the state that results from all events so far. [Decide]
// turns a state and a command into events or a rejection; [Thread.Apply] turns a state and an event into the next
// state. Both are pure: ids come with the command, nothing is read or written. This package knows no other layer.
//
// Commands and events stand with their rules, their rejections and their part of the state, by idea: lifecycle.go
// (create, rename, delete), membership.go (members and roles), posting.go (messages).
package thread

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/benbjohnson/immutable"

	"example.com/threads/domain/ident"
)

// AggregateType is what event stores know threads as.
const AggregateType = "thread"

// The identifiers of a thread and of what is in it.
type (
	ID        = ident.Of[Thread]
	MemberID  = ident.Of[Member]
	MessageID = ident.Of[Message]
	UserID    = ident.UserID
)

// Command is a request to change a thread, with the ids of what it creates. The set is closed.
//
//sumtype:decl
type Command interface {
	// name returns the result of [CommandName].
	name() string
	// decide returns the events that follow in t, at least one, or the rejection.
	decide(t Thread) ([]Event, error)
}

// Event is something that has happened to a thread. The set is closed. The envelope tells when and by whom it happened.
//
//sumtype:decl
type Event interface {
	// apply returns the state after the event. It checks nothing and never fails.
	apply(t Thread) Thread
}

// CommandName is the name by which a repeat of the command is recognised. It must never change.
func CommandName(c Command) string { return c.name() }

// Decide returns the events that result from command on t, at least one, or the rejection, also if nothing changes.
//
// Decide is pure and does not change t; [Thread.Apply] applies the events.
func Decide(t Thread, command Command) ([]Event, error) {
	if _, begins := command.(Create); !begins {
		if err := t.Usable(); err != nil {
			return nil, err
		}
	}
	return command.decide(t)
}

// Thread is the state of a thread, as far as decisions need it. A message is only its id, its sender and a digest of
// its text, so that a thread of 100,000 messages still fits in memory. The zero value is a thread that does not exist.
// A Thread is an immutable value that can be copied and shared between goroutines.
//
// It also has the numbers of the events that each member and message comes from, for those who read its history.
//
// A new field must be added to the [Memento] or [Postings], and to its JSON (eventjson). If it is not zero in every
// older thread, the snapshot format must be increased: older snapshots are then skipped and events are replayed.
type Thread struct {
	created bool
	deleted bool
	events  uint64 // that have happened: the number of the last one
	name    Name
	membership
	postings
}

// Apply returns the state after event; t is not changed. Its cost does not grow with the thread.
func (t Thread) Apply(event Event) Thread {
	t.events++
	return event.apply(t)
}

// Replay returns the state after all events, in order.
func (t Thread) Replay(events ...Event) Thread {
	for _, event := range events {
		t = t.Apply(event)
	}
	return t
}

// Usable returns the rejection if the thread does not exist or is deleted; otherwise nil.
func (t Thread) Usable() error {
	switch {
	case !t.created:
		return ErrThreadNotFound
	case t.deleted:
		return ErrThreadDeleted
	}
	return nil
}

func (t Thread) Deleted() bool { return t.deleted }

func (t Thread) Name() Name { return t.name }

// Size returns the number of members and messages.
func (t Thread) Size() (members, messages int) { return t.members.all().Len(), t.messages.all().Len() }

// Memento is the state of a thread that exists, laid open for those who store it as a snapshot. [Thread.Memento] and
// [Memento.Thread] are inverse: what decisions need survives the way there and back.
type Memento struct {
	Deleted bool
	Events  uint64 // number of the last event
	Name    Name
	Members []Participant // in the order of joining
	Postings
}

// Memento lays the state open. Its cost grows with the thread: it is not for the path of a command.
func (t Thread) Memento() Memento {
	return Memento{Deleted: t.deleted, Events: t.events, Name: t.name, Members: t.Participants(), Postings: t.open()}
}

// Thread is the state that m was taken from.
func (m Memento) Thread() Thread {
	t := Thread{created: true, deleted: m.Deleted, events: m.Events, name: m.Name, postings: m.closed()}
	for _, member := range m.Members {
		t = t.withMember(member)
	}
	return t
}

// Participants returns the members in the order of joining.
func (t Thread) Participants() []Participant {
	return slices.SortedFunc(t.members.values(), func(a, b Participant) int {
		return cmp.Or(cmp.Compare(a.Joined, b.Joined), a.ID.Compare(b.ID))
	})
}

// CheckAdmin returns the rejection unless the user is an Admin of the thread, which is there and not deleted. // extra:history|tasks {
func (t Thread) CheckAdmin(user UserID) error {
	if err := t.Usable(); err != nil {
		return err
	}
	return t.mustBeAdmin(user)
} // extra:history|tasks }

// immutableMap is a map whose changed copy shares all but a few nodes with the original. The zero value is empty.
type immutableMap[K comparable, V any] struct{ entries *immutable.Map[K, V] }

// hasher hashes with a secret seed, because clients choose the ids of user accounts.
type hasher[K comparable] struct{ seed maphash.Seed }

func (h hasher[K]) Hash(key K) uint32 { return uint32(maphash.Comparable(h.seed, key)) }
func (hasher[K]) Equal(a, b K) bool   { return a == b }

// mapOf returns a map with the values, each under its key.
func mapOf[K comparable, V any](values []V, key func(V) K) immutableMap[K, V] {
	builder := immutable.NewMapBuilder[K, V](hasher[K]{maphash.MakeSeed()})
	for _, value := range values {
		builder.Set(key(value), value)
	}
	return immutableMap[K, V]{builder.Map()}
}

func (m immutableMap[K, V]) all() *immutable.Map[K, V] {
	if m.entries == nil {
		return immutable.NewMap[K, V](hasher[K]{maphash.MakeSeed()})
	}
	return m.entries
}

func (m immutableMap[K, V]) get(key K) (value V, exists bool) { return m.all().Get(key) }

func (m immutableMap[K, V]) with(key K, value V) immutableMap[K, V] {
	return immutableMap[K, V]{m.all().Set(key, value)}
}

func (m immutableMap[K, V]) without(key K) immutableMap[K, V] {
	return immutableMap[K, V]{m.all().Delete(key)}
}

// values yields all values, in no order.
func (m immutableMap[K, V]) values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for all := m.all().Iterator(); !all.Done(); {
			if _, value, _ := all.Next(); !yield(value) {
				return
			}
		}
	}
}
