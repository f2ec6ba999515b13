package e2e

import (
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"
)

// A repeat with the same key must get the first answer, for every kind of command.
func TestRepeatsGetTheFirstAnswer(t *testing.T) { eachSystem(t, testRepeatsGetTheFirstAnswer) }

func testRepeatsGetTheFirstAnswer(t *testing.T, s *system) {
	ada, bob := s.person(""), s.person("")
	repeat := func(path string, body fields) answer {
		t.Helper()
		key := headers{"Idempotency-Key": ulid.Make().String()}
		first := ada.attempt(t, path, body, key)
		again := ada.attempt(t, path, body, key)
		if first.status/100 != 2 || again.status != first.status || string(again.raw) != string(first.raw) {
			t.Errorf("%s: first %d %s, then %d %s", path, first.status, first.raw, again.status, again.raw)
		}
		if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: Idempotent-Replayed is %q, then %q", path, first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
		}
		if again.header.Get("ETag") != first.header.Get("ETag") || token(again) != token(first) {
			t.Errorf("%s: ETag or Consistency-Token differ", path)
		}
		return first
	}

	thread := repeat("/threads/create", fields{"name": "once"}).text("thread_id")
	repeat("/threads/rename", fields{"thread_id": thread, "name": "only once"})
	repeat("/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
	repeat("/threads/change_member_role", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Admin"})
	message := repeat("/threads/post_message", fields{"thread_id": thread, "text": "hello"}).text("message_id")
	repeat("/threads/edit_message", fields{"thread_id": thread, "message_id": message, "text": "hello!"})
	repeat("/threads/delete_message", fields{"thread_id": thread, "message_id": message})
	repeat("/threads/remove_member", fields{"thread_id": thread, "user_account_id": bob.id})
	last := repeat("/threads/delete", fields{"thread_id": thread})
	if last.version() != 9 {
		t.Errorf("nine commands, each sent twice, made version %d", last.version())
	}
	var lists struct{ GetThreads []struct{ Name string } }
	ada.ask(t, &lists, `query($viewer: ID!) { getThreads(userAccountId: $viewer) { name } }`, fields{"viewer": ada.id}, token(last))
	if len(lists.GetThreads) != 0 {
		t.Errorf("a repeated create made another thread: %+v", lists)
	}
}

// Repeats that arrive together must be one command, even if it creates a thread.
func TestRepeatsThatArriveTogether(t *testing.T) { eachSystem(t, testRepeatsThatArriveTogether) }

func testRepeatsThatArriveTogether(t *testing.T, s *system) {
	ada := s.person("")
	key := headers{"Idempotency-Key": ulid.Make().String()}
	var mutex sync.Mutex
	answers := map[string]int{}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			a, err := ada.try(t.Context(), "/threads/create", fields{"name": "together"}, key)
			if err != nil || a.status != 201 {
				t.Errorf("%d %s, %v", a.status, a.raw, err)
			}
			mutex.Lock()
			answers[string(a.raw)]++
			mutex.Unlock()
		})
	}
	group.Wait()
	if len(answers) != 1 {
		t.Errorf("different answers: %v", answers)
	}
}

// A key must be remembered after a restart.
func TestRepeatsAfterARestart(t *testing.T) { eachOwnSystem(t, testRepeatsAfterARestart) }

func testRepeatsAfterARestart(t *testing.T, s *system) {
	ada := s.person("")
	key := headers{"Idempotency-Key": ulid.Make().String()}
	first := ada.attempt(t, "/threads/create", fields{"name": "before"}, key)
	write := s.writer
	write.Stop(t)
	write.Start(t)
	again := ada.attempt(t, "/threads/create", fields{"name": "before"}, key)
	if first.status != 201 || string(again.raw) != string(first.raw) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("first %d %s, then %d %s", first.status, first.raw, again.status, again.raw)
	}
}
