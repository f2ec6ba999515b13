package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es/estest/testenv"
)

// releaseClient alone writes to its threads, and knows what must be in them.
type releaseClient struct {
	fleet  *fleet
	name   string
	daring bool // uses what only the next release has
	sent   int
	rounds atomic.Int64

	executor string
	threads  []*knownThread
}

type knownThread struct {
	id, name, code, token string
	urgent                bool
	version               int
	posts                 []string // texts in order of versions; "" is deleted
	ids                   []string // of the messages
	pinned                string   // message
}

func (c *releaseClient) key() string {
	c.sent++
	return fmt.Sprintf("%s-%d", c.name, c.sent)
}

func (c *releaseClient) work(ctx context.Context, stop <-chan struct{}) error {
	c.executor = ulid.Make().String()
	for round := 0; ; round++ {
		select {
		case <-stop:
			return nil
		default:
		}
		if round%3 == 0 {
			if err := c.create(ctx); err != nil {
				return err
			}
		}
		last := len(c.threads) - 1
		for _, at := range slices.Compact([]int{0, last / 2, last}) {
			if err := c.use(ctx, c.threads[at], round); err != nil {
				return fmt.Errorf("thread %s: %w", c.threads[at].id, err)
			}
		}
		c.rounds.Add(1)
	}
}

// dares reports whether the client now uses what only the next release has.
func (c *releaseClient) dares() bool { return c.daring && c.fleet.dares.Load() }

// do sends a command that must be accepted, and then, sometimes, again: the answer must be the first one.
func (c *releaseClient) do(ctx context.Context, path string, body fields, key string, nextOnly bool) (answer, error) {
	body["executor_id"] = c.executor
	a, err := c.fleet.command(ctx, path, body, key, nextOnly)
	if err != nil || a.status/100 != 2 {
		return a, fmt.Errorf("%s: %w", path, a.wrong(err))
	}
	if rand.IntN(3) > 0 {
		return a, nil
	}
	again, err := c.fleet.command(ctx, path, body, key, nextOnly)
	if err != nil || again.header.Get("Idempotent-Replayed") != "true" || token(again) != token(a) {
		return a, fmt.Errorf("%s again, after %s: %w", path, a.raw, again.wrong(err))
	}
	c.fleet.replayed.Add(1)
	return a, nil
}

func (c *releaseClient) create(ctx context.Context) error {
	thread := &knownThread{name: fmt.Sprintf("%s, %d", c.name, c.sent), urgent: c.dares()}
	body := fields{"name": thread.name}
	if thread.urgent {
		body["urgent"] = true
	}
	a, err := c.do(ctx, "/threads/create", body, c.key(), thread.urgent)
	if err != nil {
		return err
	}
	thread.id, thread.code, thread.version, thread.token = a.text("thread_id"), a.text("code"), 1, token(a)
	c.threads = append(c.threads, thread)
	if c.dares() {
		return c.order(ctx)
	}
	return nil
}

// order opens an aggregate of a type that only the next release has.
func (c *releaseClient) order(ctx context.Context) error {
	body := fields{"name": c.name, "quantity": 5, "priority": "LOW", "due": "2026-03-01T12:00:00Z"}
	a, err := c.do(ctx, "/orders/open", body, c.key(), true)
	if err != nil {
		return err
	}
	var data struct{ GetOrder struct{ Name string } }
	query := fmt.Sprintf("{ getOrder(orderId: %q, userAccountId: %q) { name } }", a.text("order_id"), c.executor)
	err = c.fleet.query(ctx, &data, query, token(a), true)
	if err == nil && data.GetOrder.Name != c.name {
		err = fmt.Errorf("the order is %+v", data)
	}
	return err
}

// use changes a thread, some of it at the same time, and looks at it.
func (c *releaseClient) use(ctx context.Context, thread *knownThread, round int) error {
	dares := c.dares()
	if err := c.pinnedStays(ctx, thread); err != nil {
		return err
	}
	const posts = 3
	answers := make([]answer, posts)
	texts := make([]string, posts)
	var posting errgroup.Group
	for i := range posts {
		key := c.key()
		texts[i] = "post " + key
		posting.Go(func() (err error) {
			answers[i], err = c.do(ctx, "/threads/post_message", fields{"thread_id": thread.id, "text": texts[i]}, key, false)
			return err
		})
	}
	if err := posting.Wait(); err != nil {
		return err
	}
	at := map[int]int{} // the post of each version
	for i, a := range answers {
		at[a.version()] = i
	}
	for range posts {
		thread.version++
		i, there := at[thread.version]
		if !there {
			return fmt.Errorf("no post has version %d: %v", thread.version, at)
		}
		thread.posts, thread.ids, thread.token = append(thread.posts, texts[i]), append(thread.ids, answers[i].text("message_id")), token(answers[i])
	}
	change := func(path string, body fields, nextOnly bool) error {
		body["thread_id"] = thread.id
		a, err := c.do(ctx, path, body, c.key(), nextOnly)
		if err == nil && a.version() != thread.version+1 {
			err = fmt.Errorf("%s: version %d after %d", path, a.version(), thread.version)
		}
		thread.version, thread.token = thread.version+1, token(a)
		return err
	}
	last := len(thread.ids) - 1
	if dares && round%2 == 0 {
		if err := change("/threads/pin_message", fields{"message_id": thread.ids[last]}, true); err != nil {
			return err
		}
		thread.pinned = thread.ids[last]
		if err := c.pinnedStays(ctx, thread); err != nil {
			return err
		}
	}
	if round%5 == 4 {
		if err := change("/threads/delete_message", fields{"message_id": thread.ids[last]}, false); err != nil {
			return err
		}
		thread.posts[last] = ""
		if thread.pinned == thread.ids[last] {
			thread.pinned = ""
		}
	}
	thread.name = "renamed " + c.key()
	if err := change("/threads/rename", fields{"name": thread.name}, false); err != nil {
		return err
	}
	return c.look(ctx, thread, dares)
}

// pinnedStays checks that the pinned message of a thread is part of the state that the next release decides on.
func (c *releaseClient) pinnedStays(ctx context.Context, thread *knownThread) error {
	if thread.pinned == "" || !c.dares() {
		return nil
	}
	body := fields{"executor_id": c.executor, "thread_id": thread.id, "message_id": thread.pinned}
	a, err := c.fleet.command(ctx, "/threads/pin_message", body, c.key(), true)
	if err != nil || a.text("code") != "already_pinned" {
		return fmt.Errorf("message %s is pinned again: %w", thread.pinned, a.wrong(err))
	}
	return nil
}

// look compares what a query with the thread's last token shows with what must be there. whole: it also asks for what
// only the next release has.
func (c *releaseClient) look(ctx context.Context, thread *knownThread, whole bool) error {
	urgent, pinned := "", ""
	if whole {
		urgent, pinned = "urgent", "pinned"
	}
	query := fmt.Sprintf("{ getThread(threadId: %q, userAccountId: %q) { name version %s messages(last: 500) { edges { node { id text %s } } } } }",
		thread.id, c.executor, urgent, pinned)
	var data struct {
		GetThread struct {
			Name     string
			Version  int
			Urgent   bool
			Messages struct {
				Edges []struct {
					Node struct {
						ID, Text string
						Pinned   bool
					}
				}
			}
		}
	}
	if err := c.fleet.query(ctx, &data, query, thread.token, whole); err != nil {
		return err
	}
	found := data.GetThread
	var texts []string
	shown := ""
	for _, edge := range found.Messages.Edges {
		texts = append(texts, edge.Node.Text)
		if edge.Node.Pinned {
			shown += edge.Node.ID
		}
	}
	want := slices.DeleteFunc(slices.Clone(thread.posts), func(text string) bool { return text == "" })
	if found.Name != thread.name || found.Version != thread.version || !slices.Equal(texts, want[max(0, len(want)-500):]) {
		return fmt.Errorf("version %d, %q, %q is shown instead of version %d, %q, %q", found.Version, found.Name, texts, thread.version, thread.name, want)
	}
	if whole && (found.Urgent != thread.urgent || shown != thread.pinned) {
		return fmt.Errorf("urgent %t and pinned %q is shown instead of %t and %q", found.Urgent, shown, thread.urgent, thread.pinned)
	}
	return nil
}

// pinnedThread is a thread with an event that the former release does not know.
type pinnedThread struct {
	*releaseClient
	thread *knownThread
	held   fields // a command that the former release does not decide
}

// pin makes such a thread, by the next release.
func (f *fleet) pin(ctx context.Context, t *testing.T) *pinnedThread {
	t.Helper()
	p := &pinnedThread{releaseClient: &releaseClient{fleet: f, name: "pinned", daring: true, executor: ulid.Make().String()}}
	err := p.create(ctx)
	if err == nil {
		p.thread = p.threads[0]
		err = p.use(ctx, p.thread, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustBeHeld checks what the former release alone does with the thread: it shows it, and decides nothing on it.
func (p *pinnedThread) mustBeHeld(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := p.look(ctx, p.thread, false); err != nil {
		t.Error(err)
	}
	p.held = fields{"executor_id": p.executor, "thread_id": p.thread.id, "name": "held"}
	brief, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if a, err := p.fleet.command(brief, "/threads/rename", p.held, "held", false); !errors.Is(err, context.DeadlineExceeded) || a.status/100 == 2 {
		t.Errorf("the former release answers %d %s, %v", a.status, a.raw, err)
	}
}

func (p *pinnedThread) mustGoOn(ctx context.Context, t *testing.T) {
	t.Helper()
	a, err := p.fleet.command(ctx, "/threads/rename", p.held, "held", false)
	if err != nil || a.status != 200 || a.version() != p.thread.version+1 {
		t.Fatalf("what was held: %d %s after version %d, %v", a.status, a.raw, p.thread.version, err)
	}
	p.thread.version, p.thread.name, p.thread.token = a.version(), "held", token(a)
	p.mustBeShown(ctx, t)
}

func (p *pinnedThread) mustBeShown(ctx context.Context, t *testing.T) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		if now := p.fleet.health(t, p.fleet.next); !now.Active || now.Parked > 0 {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	if err := errors.Join(p.look(ctx, p.thread, true), p.pinnedStays(ctx, p.thread)); err != nil {
		t.Error(err)
	}
}

// pinUnderTheFormerUpdater pins another message, which parks the thread, and returns another one that is urgent.
func (p *pinnedThread) pinUnderTheFormerUpdater(ctx context.Context, t *testing.T) (urgent string) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		if !p.fleet.health(t, p.fleet.former).Active {
			return errors.New("the former updater stands by")
		}
		return nil
	})
	a, err := p.do(ctx, "/threads/pin_message", fields{"thread_id": p.thread.id, "message_id": p.thread.ids[0]}, p.key(), true)
	if err != nil {
		t.Fatal(err)
	}
	p.thread.version, p.thread.token, p.thread.pinned = a.version(), token(a), p.thread.ids[0]
	created, err := p.do(ctx, "/threads/create", fields{"name": "urgent", "urgent": true}, p.key(), true)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 30*time.Second, func() error {
		if now := p.fleet.health(t, p.fleet.former); now.Parked == 0 {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	p.fleet.settled(t, p.fleet.former)
	return created.text("thread_id")
}
