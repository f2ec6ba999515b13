package e2e

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// asked is what a client asked of one thread.
type asked struct {
	thread string
	path   string // the command's, or historyRead
	about  string // the name, the user account, or the message
	match  int    // the version in If-Match; 0: none
}

// historyRead asks for the number of the thread's last event, which is read from the journal.
const historyRead = "threadHistory"

// told is what the client was told.
type told struct {
	code    string // of the rejection; empty: accepted
	version int    // after the command; of a mismatch and of a read, the current one; of other rejections anyVersion
	message string // that was posted
}

const anyVersion = -1

// modelThread is a thread after some commands, as its rules say. It never changes; a step makes another.
type modelThread struct {
	version           int
	name              string
	members, messages []string
}

// threads says which answers a thread may give whose commands happen one after another.
var threads = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byThread := map[string][]porcupine.Operation{}
		for _, one := range history {
			id := one.Input.(asked).thread
			byThread[id] = append(byThread[id], one)
		}
		var parts [][]porcupine.Operation
		for _, part := range byThread {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return modelThread{} },
	Step: func(state, input, output any) (bool, any) {
		before, was := state.(modelThread), output.(told)
		after, code := before.step(input.(asked), was.message)
		if code != was.code || was.version != anyVersion && was.version != after.version {
			return false, state
		}
		return true, after
	},
	Equal: func(a, b any) bool {
		x, y := a.(modelThread), b.(modelThread)
		return x.version == y.version && x.name == y.name && slices.Equal(x.members, y.members) && slices.Equal(x.messages, y.messages)
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

// step returns the thread after what was asked, and the code of the rejection.
func (m modelThread) step(what asked, message string) (modelThread, string) {
	after := m
	after.version++
	switch isMember := slices.Contains(m.members, what.about); {
	case what.path == historyRead:
		return m, ""
	case what.path == "/threads/remove_member" && !isMember:
		return m, "member_not_found"
	case what.path == "/threads/delete_message" && !slices.Contains(m.messages, what.about):
		return m, "message_not_found"
	case what.match != 0 && what.match != m.version:
		return m, "version_mismatch"
	case what.path == "/threads/create":
		after.name, after.members = what.about, []string{}
	case what.path == "/threads/rename" && what.about == m.name:
		return m, "name_unchanged"
	case what.path == "/threads/rename":
		after.name = what.about
	case what.path == "/threads/add_member" && isMember:
		return m, "already_a_member"
	case what.path == "/threads/add_member":
		after.members = append(slices.Clip(m.members), what.about)
	case what.path == "/threads/remove_member":
		after.members = without(m.members, what.about)
	case what.path == "/threads/post_message":
		after.messages = append(slices.Clip(m.messages), message)
	case what.path == "/threads/delete_message":
		after.messages = without(m.messages, what.about)
	default:
		panic("no rule for " + what.path)
	}
	return after, ""
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}
