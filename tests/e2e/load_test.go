package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// messagesOf reads all messages of a thread, page by page.
func (p person) messagesOf(t *testing.T, threadID string, tokens ...string) []messageView {
	t.Helper()
	var all []messageView
	after := ""
	for {
		var page struct{ GetMessages []messageView }
		p.ask(t, &page, `query($thread: ID!, $viewer: ID!, $after: String) {
			getMessages(threadId: $thread, userAccountId: $viewer, first: 100, after: $after) { id userAccountId text }
		}`, fields{"thread": threadID, "viewer": p.id, "after": orNull(after)}, tokens...)
		if len(page.GetMessages) == 0 {
			return all
		}
		all = append(all, page.GetMessages...)
		after = page.GetMessages[len(page.GetMessages)-1].ID
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func TestTwentyClientsOnOneThread(t *testing.T) { eachSystem(t, testTwentyClientsOnOneThread) }

func testTwentyClientsOnOneThread(t *testing.T, s *system) {
	const clients, postsEach = 20, 10
	ada := s.person("")
	thread := ada.command(t, "/threads/create", fields{"name": "busy"}).text("thread_id")

	var mutex sync.Mutex
	idAt := map[int]string{} // the message of each version
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for post := range postsEach {
				a, err := ada.try(t.Context(), "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprintf("%d/%d", client, post)}, nil)
				if err != nil || a.status != 200 {
					t.Errorf("client %d, post %d: %d %s, %v", client, post, a.status, a.raw, err)
					return
				}
				mutex.Lock()
				idAt[a.version()] = a.text("message_id")
				mutex.Unlock()
			}
		})
	}
	group.Wait()

	var want []string
	for version := 2; version <= 1+clients*postsEach; version++ {
		if idAt[version] == "" {
			t.Fatalf("no post has version %d", version)
		}
		want = append(want, idAt[version])
	}
	var got []string
	for _, message := range ada.messagesOf(t, thread, fmt.Sprintf("%s:%d", thread, 1+clients*postsEach)) {
		got = append(got, message.ID)
	}
	if !slices.Equal(want, got) {
		t.Errorf("the read model has %d messages, or another order than the versions'", len(got))
	}
}

// Programs are killed while clients post. Clients repeat what was not answered, with the same key. In the end all
// acknowledged posts are there exactly once, and the read model equals the journal.
func TestNothingIsLostOrDoubledByKills(t *testing.T) {
	eachOwnSystem(t, testNothingIsLostOrDoubledByKills)
}

func testNothingIsLostOrDoubledByKills(t *testing.T, s *system) {
	const clients, postsEach, kills = 8, 25, 6
	ada := s.person("acme")
	threads := []string{
		ada.command(t, "/threads/create", fields{"name": "one"}).text("thread_id"),
		ada.command(t, "/threads/create", fields{"name": "two"}).text("thread_id"),
	}

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for post := range postsEach {
				text := fmt.Sprintf("%d/%d", client, post)
				if err := postUntilAnswered(ctx, ada, threads[client%2], text); err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for kill := range kills {
		victim := []*programs.Program{s.writer, s.projector}[kill%2]
		victim.Kill(t)
		victim.Start(t)
	}
	<-done

	for half, thread := range threads {
		testenv.Eventually(t, 30*time.Second, func() error {
			if posts := len(ada.messagesOf(t, thread)); posts < clients/2*postsEach {
				return fmt.Errorf("%d messages so far", posts)
			}
			return nil
		})
		times := map[string]int{}
		messages := ada.messagesOf(t, thread)
		for _, message := range messages {
			times[message.Text]++
		}
		for client := half; client < clients; client += 2 {
			for post := range postsEach {
				if text := fmt.Sprintf("%d/%d", client, post); times[text] != 1 {
					t.Errorf("post %s is there %d times", text, times[text])
				}
			}
		}
		if view := ada.view(t, thread); view.Version != 1+len(messages) {
			t.Errorf("version %d with %d messages", view.Version, len(messages))
		}
	}
}

// postUntilAnswered repeats a post with one key until it is accepted.
func postUntilAnswered(ctx context.Context, who person, thread, text string) error {
	a, err := untilAnswered(ctx, func(int) person { return who }, "/threads/post_message", fields{"thread_id": thread, "text": text}, thread+"-"+text)
	if err == nil && a.status != 200 {
		err = fmt.Errorf("%d %s", a.status, a.raw)
	}
	return err
}

// untilAnswered repeats a command with one key until it is accepted, as a careful client does. by is who sends it, and
// through which process, in each attempt.
func untilAnswered(ctx context.Context, by func(attempt int) person, path string, body fields, key string) (a answer, err error) {
	for attempt := 0; ctx.Err() == nil; attempt++ {
		a, err = by(attempt).try(ctx, path, body, headers{"Idempotency-Key": key})
		switch {
		case err == nil && a.status/100 == 2:
			return a, nil
		case err == nil && a.status != 503:
			return a, fmt.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		_ = es.Wait(ctx, betweenAttempts)
	}
	return a, fmt.Errorf("%s is not answered: %w", path, ctx.Err())
}

const betweenAttempts = 50 * time.Millisecond
