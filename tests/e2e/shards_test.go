package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// SHARD_COUNT is raised as docs/operations.md says, under load. Each program is killed twice, so that programs of two
// steps work at the same time.
func TestTheNumberOfShardsIsRaisedUnderLoad(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, append(dynamoDB(t), "SHARD_COUNT=16"))
	second := programs.New(t, binaries, "write-api", s.store, "WRITE_API_ADDR")
	second.Start(t)
	through := *s
	through.writeURL = second.URLs[0]
	ada := s.person("acme")
	clients := make([]*shardClient, 4)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stop := make(chan struct{})
	var working sync.WaitGroup
	for i := range clients {
		clients[i] = &shardClient{
			name: fmt.Sprint("client-", i), writers: []person{ada, ada.at(&through)}, names: map[string]string{}, posts: map[string][]string{},
		}
		working.Go(func() {
			if err := clients[i].work(ctx, stop); err != nil {
				t.Errorf("%s: %v", clients[i].name, err)
			}
		})
	}
	workMore := func() {
		t.Helper()
		for _, c := range clients {
			c.made.Store(0)
		}
		testenv.Eventually(t, 30*time.Second, func() error {
			for _, c := range clients {
				if made := c.made.Load(); made < 3 {
					return fmt.Errorf("%s has made %d of 3 more threads", c.name, made)
				}
			}
			return nil
		})
	}
	workMore()
	for _, counts := range []string{"16,64", "64,16"} {
		for _, p := range []*programs.Program{s.writer, second, s.projector, s.reader} {
			p.Kill(t)
			p.Set("SHARD_COUNT=" + counts)
			p.Start(t)
			if p == s.writer {
				workMore() // while the programs differ
			}
		}
	}
	workMore()
	close(stop)
	working.Wait()
	if t.Failed() {
		return
	}

	names, codes := map[string]string{}, map[string]bool{}
	for _, c := range clients {
		maps.Copy(names, c.names)
		for _, code := range c.codes {
			codes[code] = true
		}
		for thread, posts := range c.posts {
			view := ada.view(t, thread, fmt.Sprintf("%s:%d", thread, 1+len(posts)))
			var texts []string
			for _, message := range view.Messages {
				texts = append(texts, message.Text)
			}
			if !slices.Equal(texts, posts) || view.Version != 1+len(posts) {
				t.Errorf("version %d has the posts %v, want %v", view.Version, texts, posts)
			}
		}
	}
	if len(codes) != len(names) {
		t.Errorf("%d threads have %d codes", len(names), len(codes))
	}
	if found := ada.threadNames(t); !maps.Equal(found, names) {
		t.Errorf("there are %d threads, want %d", len(found), len(names))
	}
	for counts, code := range map[string]int{"64,16": allIsWell, "16": isWrong, "64": isWrong} {
		s.store = append(s.store[:len(s.store):len(s.store)], "SHARD_COUNT="+counts)
		s.operate(t, code, "journal", "check")
	}
	s.store = append(s.store, "SHARD_COUNT=64,16")
	s.operate(t, allIsWell, "rows", "verify")
}

// threadNames returns the names of the person's threads, by id.
func (p person) threadNames(t *testing.T) map[string]string {
	t.Helper()
	names, after := map[string]string{}, ""
	for {
		var page struct{ GetThreads []struct{ ID, Name string } }
		p.ask(t, &page, `query($viewer: ID!, $after: String) { getThreads(userAccountId: $viewer, first: 100, after: $after) { id name } }`,
			fields{"viewer": p.id, "after": orNull(after)})
		if len(page.GetThreads) == 0 {
			return names
		}
		for _, thread := range page.GetThreads {
			names[thread.ID] = thread.Name
		}
		after = page.GetThreads[len(page.GetThreads)-1].ID
	}
}

// shardClient creates threads and posts to all of its threads, old and new. What is not answered it sends again, with
// the same key, to the other process.
type shardClient struct {
	name    string
	writers []person
	sent    int

	made  atomic.Int64        // threads since the last step
	names map[string]string   // of its threads, by id
	codes []string            // of its threads
	posts map[string][]string // texts, by thread
}

func (c *shardClient) work(ctx context.Context, stop <-chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil
		default:
		}
		name := fmt.Sprintf("%s, thread %d", c.name, n)
		created, err := c.send(ctx, "/threads/create", fields{"name": name})
		if err != nil {
			return err
		}
		thread := created.text("thread_id")
		c.names[thread], c.posts[thread], c.codes = name, nil, append(c.codes, created.text("code"))
		c.made.Add(1)
		for _, thread := range c.some() {
			text := fmt.Sprintf("post %d", c.sent)
			if _, err := c.send(ctx, "/threads/post_message", fields{"thread_id": thread, "text": text}); err != nil {
				return err
			}
			c.posts[thread] = append(c.posts[thread], text)
		}
	}
}

// some returns the oldest and the newest thread, and one in between.
func (c *shardClient) some() []string {
	all := slices.Sorted(maps.Keys(c.posts)) // by the time in their ids
	return slices.Compact([]string{all[0], all[len(all)/2], all[len(all)-1]})
}

func (c *shardClient) send(ctx context.Context, path string, body fields) (answer, error) {
	c.sent++
	by := func(attempt int) person { return c.writers[(c.sent+attempt)%len(c.writers)] }
	return untilAnswered(ctx, by, path, body, fmt.Sprintf("%s-%d", c.name, c.sent))
}
