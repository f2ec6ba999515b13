package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// The contenders, as the names of their readings begin.
const (
	ourReadings  = "threads "
	peerReadings = "peer "
)

// compared are the measures of a comparison with the peer in a folder. Each has services of its own, because DynamoDB
// Local gets slower with every record.
func compared(folder string) []measure {
	return []measure{
		{"compare.threads", true, inRuns(func(ctx context.Context, l *lab) ([]reading, error) { return contend(ctx, l, newOurs, ourReadings) })},
		{"compare.peer", true, inRuns(func(ctx context.Context, l *lab) ([]reading, error) {
			l.binaries = folder
			return contend(ctx, l, newTheirs, peerReadings)
		})},
	}
}

const (
	threadsOfLoad = 32
	visibleRate   = 20 // posts a second
	visibleCount  = 200
	repeats       = 20 // commands that are sent twice

	// How long rows may be unchanged until those that are missing count as lost: much longer than the updaters' pauses,
	// and after a kill longer than another updater waits for its turn.
	quiet          = 5 * time.Second
	quietAfterKill = 15 * time.Second
)

// compare measures both in turns, and writes the document.
func compare(ctx context.Context, s settings, folder string, stderr io.Writer, say func(string, ...any)) error {
	once, all := s, []reading{}
	once.runs = 1
	for n := range s.runs {
		say("turn %d of %d", n+1, s.runs)
		found, err := measured(ctx, once, folder, []string{s.built}, stderr, say)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	return errors.Join(write(s.output, all), writeComparison(ctx, s.built, s, all))
}

// contend runs all measures and kill tests with a contender.
func contend(ctx context.Context, l *lab, build func(context.Context, *lab) (*contender, error), name string) (found []reading, err error) {
	c, err := build(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	var startup time.Duration
	for role := range roleSecondWriter {
		took, err := c.start(ctx, role)
		if err != nil {
			return nil, err
		}
		if role == roleWriter {
			startup = took
		}
	}
	memory, err := c.memory(ctx)
	if err != nil {
		return nil, err
	}
	add := func(measure string, value float64) {
		found = append(found, reading{Name: name + measure, Value: value})
	}
	add("start", millis(startup))
	add("memory", memory)
	for _, test := range []struct {
		name string
		run  func(context.Context, func(string, float64)) error
	}{
		{"posts", c.measurePosts}, {"visibility", c.measureVisibility}, {"queries", c.measureQueries},
		{"kill of the writer", c.killWriter}, {"kill of the updater", c.killUpdater}, {"repeats", c.repeat}, {"two writers", c.twoWriters},
	} {
		if err := test.run(ctx, add); err != nil {
			return found, fmt.Errorf("%s%s: %w", name, test.name, err)
		}
	}
	return found, nil
}

// memory returns the resident memory of the programs in MiB.
func (c *contender) memory(ctx context.Context) (sum float64, err error) {
	for role := range roleSecondWriter {
		used, err := resident(ctx, c.processes[role].Process.Pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// newThreads creates threads and waits until a post to each is in the query, because the other tests are not about new
// threads. A thread that does not appear is replaced.
func (c *contender) newThreads(ctx context.Context, wanted int) (ids []string, err error) {
	for attempt := range 2 * wanted {
		if len(ids) == wanted {
			break
		}
		id, err := c.create(ctx, c)
		if err != nil {
			return nil, err
		}
		message, err := c.post(ctx, c, roleWriter, id, textOf("first", 0, attempt), "")
		if err != nil {
			return nil, err
		}
		switch err := c.awaitMessage(ctx, message, quiet); {
		case err == nil:
			ids = append(ids, id)
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
	}
	if len(ids) < wanted {
		err = fmt.Errorf("only %d of %d new threads appear in the query", len(ids), 2*wanted)
	}
	return ids, err
}

// awaitMessage returns when a query shows the message.
func (c *contender) awaitMessage(ctx context.Context, id string, timeout time.Duration) error {
	query := fmt.Sprintf(`{ getMessage(messageId: %q, userAccountId: %q) { id text } }`, id, c.user)
	return until(ctx, timeout, 5*time.Millisecond, func(ctx context.Context) (bool, error) {
		text, err := c.ask(ctx, query)
		return bytes.Contains(text, []byte(`"text":"text.`)), err
	})
}

// posts are the answers to posts of several clients.
type posts struct {
	acknowledged []string        // texts
	answers      []time.Duration // of those after the warm-up
	refused      int
	unanswered   int
	reason       error // of the last one without success
}

// load lets clients post one after the other until the end, each to its thread.
func (c *contender) load(ctx context.Context, phase string, threads []string, roleOf func(client int) int, measureFrom, end time.Time) (all posts) {
	var mutex sync.Mutex
	var group sync.WaitGroup
	for client, thread := range threads {
		group.Go(func() {
			var own posts
			for number := 0; ctx.Err() == nil && time.Now().Before(end); number++ {
				text := textOf(phase, client, number)
				begun := time.Now()
				_, err := c.post(ctx, c, roleOf(client), thread, text, "")
				switch {
				case err == nil:
					own.acknowledged = append(own.acknowledged, text)
					if begun.After(measureFrom) {
						own.answers = append(own.answers, time.Since(begun))
					}
					continue
				case errors.As(err, new(refusal)):
					own.refused++
				default:
					own.unanswered++
					_ = es.Wait(ctx, 20*time.Millisecond) // the program is dead
				}
				own.reason = err
			}
			mutex.Lock()
			defer mutex.Unlock()
			all.acknowledged, all.answers = append(all.acknowledged, own.acknowledged...), append(all.answers, own.answers...)
			all.refused, all.unanswered = all.refused+own.refused, all.unanswered+own.unanswered
			if own.reason != nil {
				all.reason = own.reason
			}
		})
	}
	group.Wait()
	return all
}

func toWriter(int) int { return roleWriter }

// settle waits until the read model has all acknowledged texts of a phase, or has not changed for so long. It returns
// the time of the last change.
func (c *contender) settle(ctx context.Context, phase string, acknowledged []string, unchanged time.Duration) (time.Time, error) {
	last, rows := time.Now(), 0
	err := until(ctx, time.Minute, 50*time.Millisecond, func(ctx context.Context) (bool, error) {
		found, err := c.rows(ctx, phase)
		if len(found) != rows {
			last, rows = time.Now(), len(found)
		}
		return judge(phase, acknowledged, found).missing == 0 || time.Since(last) > unchanged, err
	})
	return last, err
}

// verdicts compares the texts of a phase with the journal and with the queries' answers.
func (c *contender) verdicts(ctx context.Context, phase string, threads, acknowledged []string) (journal, query verdict, err error) {
	stored, err := c.stored(ctx)
	if err != nil {
		return journal, query, err
	}
	shown, err := c.shown(ctx, threads)
	return judge(phase, acknowledged, stored), judge(phase, acknowledged, shown), err
}

// measurePosts measures 1, 8 and 32 clients, each with a thread of its own, and counts what nobody can read afterwards.
func (c *contender) measurePosts(ctx context.Context, add func(string, float64)) error {
	ids, err := c.newThreads(ctx, threadsOfLoad)
	if err != nil {
		return err
	}
	acknowledged, missing := 0, 0
	for _, clients := range []int{1, 8, threadsOfLoad} {
		phase := fmt.Sprintf("posts%d", clients)
		measureFrom := time.Now().Add(c.lab.warmUp)
		done := c.load(ctx, phase, ids[:clients], toWriter, measureFrom, measureFrom.Add(c.lab.duration))
		if done.refused+done.unanswered > 0 {
			return fmt.Errorf("%d posts refused, %d unanswered: %w", done.refused, done.unanswered, done.reason)
		}
		add(phase, float64(len(done.answers))/c.lab.duration.Seconds())
		add(phase+".p50", percentile(done.answers, 0.5))
		add(phase+".p99", percentile(done.answers, 0.99))
		if _, err := c.settle(ctx, phase, done.acknowledged, quiet); err != nil {
			return err
		}
		journal, query, err := c.verdicts(ctx, phase, ids[:clients], done.acknowledged)
		if err != nil {
			return err
		}
		acknowledged += len(done.acknowledged)
		missing += max(journal.missing, query.missing)
	}
	add("load.posts", float64(acknowledged))
	add("load.missing", float64(missing))
	return nil
}

// measureVisibility posts at a rate that does not depend on the answers, and measures from each answer until a query
// shows the message.
func (c *contender) measureVisibility(ctx context.Context, add func(string, float64)) error {
	ids, err := c.newThreads(ctx, 8)
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	var seen []time.Duration
	never := 0
	ticker := time.NewTicker(time.Second / visibleRate)
	defer ticker.Stop()
	group, ctx := errgroup.WithContext(ctx)
	for number := range visibleCount {
		<-ticker.C
		group.Go(func() error {
			id, err := c.post(ctx, c, roleWriter, ids[number%len(ids)], textOf("visible", number%len(ids), number), "")
			if err != nil {
				return err
			}
			answered := time.Now()
			err = c.awaitMessage(ctx, id, quiet)
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err == nil:
				seen = append(seen, time.Since(answered))
			case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
				never++
			default:
				return err
			}
			return nil
		})
	}
	err = group.Wait()
	add("visible.p50", percentile(seen, 0.5))
	add("visible.p99", percentile(seen, 0.99))
	add("visible.never", float64(never))
	return err
}

// measureQueries repeats the query of a thread with 100 messages.
func (c *contender) measureQueries(ctx context.Context, add func(string, float64)) error {
	ids, err := c.newThreads(ctx, 1)
	if err != nil {
		return err
	}
	// newThreads has posted once.
	for rows, number := 1, 0; rows < longThread && number < 2*longThread; number++ {
		id, err := c.post(ctx, c, roleWriter, ids[0], textOf("query", 0, number), "")
		if err != nil {
			return err
		}
		switch err := c.awaitMessage(ctx, id, quiet); {
		case err == nil:
			rows++
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
	query := c.messages(ids[0], c.user, "")
	first, err := c.ask(ctx, query)
	if err != nil {
		return err
	}
	if rows := bytes.Count(first, []byte(`"createdAt":`)); rows != longThread {
		return fmt.Errorf("an answer with %d messages: %.300s", rows, first)
	}
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	done, err := repeat(ctx, queryClients, c.lab.duration, func(ctx context.Context, _ int) error {
		text, err := c.exchange(ctx, roleReader, c.readPath(), "", body)
		if err != nil || len(text) != len(first) {
			return fmt.Errorf("an answer of %d bytes, not %d: %w", len(text), len(first), err)
		}
		return nil
	})
	add("queries", done.perSecond)
	return err
}
