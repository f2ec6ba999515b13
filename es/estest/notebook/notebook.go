// Package notebook is the aggregate of the library's own tests: a notebook that its owner shares with others, who write
// notes into it. It is small, and has what the tests need: rejections that depend on the state, states that grow, and
// an end.
package notebook

import (
	"maps"

	"example.com/threads/es"
)

// Type is the aggregate type.
const Type = "notebook"

// Notebook is the state.
type Notebook struct {
	Title   string
	Writers map[string]bool // who may write, besides the owner also those it is shared with
	Owner   string
	Notes   int
	Closed  bool
}

// Command is one of the commands below. By is who sends it.
type Command interface{ isCommand() }

// The commands.
type (
	Open    struct{ By, Title string }
	Rename  struct{ By, Title string }
	Share   struct{ By, With string }
	Unshare struct{ By, With string }
	Write   struct{ By, Text string }
	Close   struct{ By string }
)

func (Open) isCommand()    {}
func (Rename) isCommand()  {}
func (Share) isCommand()   {}
func (Unshare) isCommand() {}
func (Write) isCommand()   {}
func (Close) isCommand()   {}

// Event is one of the events below.
type Event interface{ isEvent() }

// The events.
type (
	Opened   struct{ Owner, Title string }
	Renamed  struct{ Title string }
	Shared   struct{ With string }
	Unshared struct{ With string }
	Written  struct{ By, Text string }
	Closed   struct{}
)

func (Opened) isEvent()   {}
func (Renamed) isEvent()  {}
func (Shared) isEvent()   {}
func (Unshared) isEvent() {}
func (Written) isEvent()  {}
func (Closed) isEvent()   {}

// Rejection is why a command is rejected. Its text is the class.
type Rejection struct{ class, text string }

func (r *Rejection) Error() string { return r.text }

// Class returns the error's class.
func (r *Rejection) Class() string { return r.class }

// The rejections.
var (
	ErrNotFound  = &Rejection{"not_found", "there is no such notebook"}
	ErrClosed    = &Rejection{"conflict", "the notebook is closed"}
	ErrNotShared = &Rejection{"forbidden", "the notebook is not shared with you"}
)

// Aggregate returns the aggregate type.
func Aggregate() es.Aggregate[Notebook, Command, Event] {
	return es.Aggregate[Notebook, Command, Event]{
		Decide: decide, Apply: Notebook.Apply, Usable: Notebook.usable, Events: Events(), Snapshots: snapshots(),
	}
}

func decide(n Notebook, c Command) ([]Event, error) {
	if open, is := c.(Open); is {
		return []Event{Opened{open.By, open.Title}}, nil
	}
	if err := n.usable(); err != nil {
		return nil, err
	}
	switch c := c.(type) {
	case Rename:
		return n.by(c.By, Renamed{c.Title})
	case Share:
		return n.by(c.By, Shared{c.With})
	case Unshare:
		return n.by(c.By, Unshared{c.With})
	case Write:
		return n.by(c.By, Written(c))
	case Close:
		return n.by(c.By, Closed{})
	default:
		panic("unknown command")
	}
}

func (n Notebook) by(who string, event Event) ([]Event, error) {
	if !n.Writers[who] {
		return nil, ErrNotShared
	}
	return []Event{event}, nil
}

// Apply returns the state after an event.
func (n Notebook) Apply(event Event) Notebook {
	switch e := event.(type) {
	case Opened:
		return Notebook{Title: e.Title, Owner: e.Owner, Writers: map[string]bool{e.Owner: true}}
	case Renamed:
		n.Title = e.Title
	case Shared:
		n.Writers = maps.Clone(n.Writers)
		n.Writers[e.With] = true
	case Unshared:
		n.Writers = maps.Clone(n.Writers)
		delete(n.Writers, e.With)
	case Written:
		n.Notes++
	case Closed:
		n.Closed = true
	}
	return n
}

func (n Notebook) usable() error {
	switch {
	case n.Closed:
		return ErrClosed
	case n.Owner == "":
		return ErrNotFound
	}
	return nil
}
