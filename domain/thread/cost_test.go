package thread

import (
	"crypto/rand"
	"testing"
	"time"

	"example.com/threads/domain/ident"
)

// A thread of 100,000 messages is an ordinary thread: deciding and applying must allocate about as much as on a small
// one. Allocations are counted because times vary on a shared machine.
func TestTheCostOfACommandDoesNotGrowWithTheThread(t *testing.T) {
	small, large := postedTo(t, 100), postedTo(t, 100_000)
	if few, many := allocationsOf(small), allocationsOf(large); many > 3*few {
		t.Errorf("a command allocates %v times on a small thread and %v times on a large one", few, many)
	}
}

func postedTo(t *testing.T, messages int) Thread {
	t.Helper()
	state := Thread{}.Replay(created)
	for range messages {
		state = state.Apply(MessagePosted{Message{ID: randomID(), Sender: ada, Text: text("x")}})
	}
	if _, kept := state.Size(); kept != messages {
		t.Fatalf("%d messages, want %d", kept, messages)
	}
	return state
}

func randomID() MessageID {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:])
	return ident.New[Message](time.UnixMilli(1), entropy)
}

func allocationsOf(state Thread) float64 {
	return testing.AllocsPerRun(1000, func() {
		events, err := Decide(state, PostMessage{ada, randomID(), text("hello")})
		if err != nil {
			panic(err)
		}
		state.Replay(events...)
	})
}
