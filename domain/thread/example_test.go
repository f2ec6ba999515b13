package thread_test

import (
	"fmt"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// A command is decided on a state. The resulting events make the next state.
func Example() {
	at := time.Now()
	ada := ident.New[ident.UserAccount](at, [10]byte{1})
	bob := ident.New[ident.UserAccount](at, [10]byte{2})
	name, _ := writing.ParseName("tea")
	invitation, _ := thread.ParseText("Anyone for a cup?")
	answer, _ := thread.ParseText("Me!")

	state := thread.Thread{}
	for _, command := range []thread.Command{
		thread.Create{Executor: ada, Member: ident.New[thread.Member](at, [10]byte{3}), Name: name},
		thread.PostMessage{Executor: ada, Message: ident.New[thread.Message](at, [10]byte{4}), Text: invitation},
		thread.PostMessage{Executor: bob, Message: ident.New[thread.Message](at, [10]byte{5}), Text: answer},
	} {
		events, err := thread.Decide(state, command)
		state = state.Replay(events...)
		fmt.Printf("%T: %d events, %v\n", command, len(events), err)
	}
	// Output:
	// thread.Create: 1 events, <nil>
	// thread.PostMessage: 1 events, <nil>
	// thread.PostMessage: 0 events, only a member of the thread may do this
}
