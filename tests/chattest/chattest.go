// Package chattest creates the requests that tests send to the thread command service, as adapters would.
package chattest

import (
	"crypto/rand"
	"fmt"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// Request returns a request for a command on a thread. If the command creates a thread, a new id is used. The ids of
// new members and messages are added to the command.
func Request(caller es.Caller, id thread.ID, c thread.Command) es.Request[thread.Command] {
	r := es.Request[thread.Command]{
		Caller: caller, ID: id.String(), Command: c, Name: thread.CommandName(c), Content: fmt.Sprintf("%+v", c),
	}
	if create, is := c.(thread.Create); is {
		create.Member = NewID[thread.Member]()
		r.ID, r.Begins, r.Command = NewID[thread.Thread]().String(), true, create
	}
	if add, is := c.(thread.AddMember); is {
		add.Member = NewID[thread.Member]()
		r.Command = add
	}
	if post, is := c.(thread.PostMessage); is {
		post.Message = NewID[thread.Message]()
		r.Command = post
	}
	return r
}

// NewID returns a new identifier.
func NewID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails
	return ident.New[T](time.Now(), entropy)
}
