// Package chattest creates the requests that tests send to the thread command service, as adapters would.
package chattest

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/tests/kit"
)

// Request returns a request for a command on a thread. If the command creates a thread, a new id is used. The ids of
// new members and messages are added to the command.
func Request(caller es.Caller, id thread.ID, c thread.Command) es.Request[thread.Command] {
	r := es.Request[thread.Command]{
		Caller: caller, ID: id.String(), Command: c, Name: thread.CommandName(c), Content: fmt.Sprintf("%+v", c),
	}
	if create, is := c.(thread.Create); is {
		create.Member = kit.NewID[thread.Member]()
		r.ID, r.Begins, r.Command = kit.NewID[thread.Thread]().String(), true, create
	}
	if add, is := c.(thread.AddMember); is {
		add.Member = kit.NewID[thread.Member]()
		r.Command = add
	}
	if post, is := c.(thread.PostMessage); is {
		post.Message = kit.NewID[thread.Message]()
		r.Command = post
	}
	return r
}
