package process_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/testenv"
)

// memory is an outbox that can fail to delete sent commands, as if the program were killed.
type memory struct {
	mu      sync.Mutex
	pending []process.Pending
	killed  bool
}

var errKilled = errors.New("killed")

func (m *memory) Add(_ context.Context, _ projection.Tx, commands []process.Command) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, command := range commands {
		m.pending = append(m.pending, process.Pending{Command: command})
	}
	return nil
}

func (m *memory) Due(_ context.Context, now time.Time, limit int) ([]process.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []process.Pending
	for _, pending := range m.pending {
		if !pending.DueAt.After(now) && len(due) < limit {
			due = append(due, pending)
		}
	}
	return due, nil
}

func (m *memory) Done(_ context.Context, commands []process.Command) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return errKilled
	}
	m.pending = slices.DeleteFunc(m.pending, func(p process.Pending) bool { return slices.Contains(commands, p.Command) })
	return nil
}

func (m *memory) Postpone(_ context.Context, postponed process.Pending) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.pending {
		if m.pending[i].Command == postponed.Command {
			m.pending[i] = postponed
		}
	}
	return nil
}

func (m *memory) Count(context.Context) (waiting, failing int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pending := range m.pending {
		failing += min(pending.Attempts, 1)
	}
	return len(m.pending), failing, nil
}

// receiver decides commands: it records each one and fails for the aggregates in failing.
type receiver struct {
	mu      sync.Mutex
	got     map[string]int // by key
	callers map[string]es.Caller
	failing map[string]bool // by aggregate
}

func (r *receiver) send(_ context.Context, caller es.Caller, key string, command process.Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got[key]++
	r.callers[key] = caller
	if r.failing[command.Target.ID] {
		return es.ErrConcurrentUpdate
	}
	return nil
}

func newReceiver() *receiver {
	return &receiver{got: map[string]int{}, callers: map[string]es.Caller{}, failing: map[string]bool{}}
}

func commandFor(t *testing.T, id string) process.Command {
	t.Helper()
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return process.Command{
		Target: es.AggregateID{Tenant: tenant, Type: "order", ID: id}, Name: "order.Cancel", EventID: "EVENT", Executor: "SOMEBODY", CausationID: "CAUSE", CorrelationID: "conversation",
	}
}

func TestWhatACommandCarries(t *testing.T) {
	box, to := &memory{}, newReceiver()
	manager := process.NewManager("cancel-all", box, to.send, process.Settings{})
	first := commandFor(t, "A")
	if err := box.Add(t.Context(), nil, []process.Command{first, commandFor(t, "B")}); err != nil {
		t.Fatal(err)
	}
	if sent, err := manager.SendDue(t.Context()); sent != 2 || err != nil || len(box.pending) != 0 || manager.Sent.Load() != 2 {
		t.Fatalf("sent %d, %v; %v are left", sent, err, box.pending)
	}
	want := es.Caller{
		Tenant: first.Target.Tenant, Executor: "SOMEBODY", CorrelationID: "conversation", CausationID: "CAUSE", Source: "process/cancel-all",
	}
	if got := to.callers["process/cancel-all/EVENT/order-A"]; got != want || to.got["process/cancel-all/EVENT/order-B"] != 1 {
		t.Errorf("%+v, want %+v, of %v", got, want, to.got)
	}
}

// Killed after sending: the command is sent again with the same key, by which the receiver recognizes it.
func TestAKilledProgramSendsAgainWithTheSameKey(t *testing.T) {
	box, to := &memory{killed: true}, newReceiver()
	if err := box.Add(t.Context(), nil, []process.Command{commandFor(t, "A")}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := process.NewManager("cancel-all", box, to.send, process.Settings{}).SendDue(t.Context()); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	box.killed = false
	if _, err := process.NewManager("cancel-all", box, to.send, process.Settings{}).SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(to.got) != 1 || to.got["process/cancel-all/EVENT/order-A"] != 4 || len(box.pending) != 0 {
		t.Errorf("got %v; left %v", to.got, box.pending)
	}
}

func TestACommandThatFailsHoldsUpNothing(t *testing.T) {
	now := time.Unix(1, 0)
	box, to := &memory{}, newReceiver()
	manager := process.NewManager("cancel-all", box, to.send, process.Settings{Clock: func() time.Time { return now }})
	to.failing["A"] = true
	if err := box.Add(t.Context(), nil, []process.Command{commandFor(t, "A"), commandFor(t, "B")}); err != nil {
		t.Fatal(err)
	}
	began := now
	for attempt := range 12 {
		if sent, err := manager.SendDue(t.Context()); err != nil || sent == 0 {
			t.Fatalf("attempt %d: sent %d, %v", attempt, sent, err)
		}
		if sent, err := manager.SendDue(t.Context()); err != nil || sent != 0 {
			t.Fatalf("attempt %d: sent %d at once again, %v", attempt, sent, err)
		}
		waiting, failing, err := box.Count(t.Context())
		left := box.pending[0]
		pause := left.DueAt.Sub(now)
		most := min(time.Second<<attempt, 5*time.Minute)
		if waiting != 1 || failing != 1 || err != nil || left.Attempts != attempt+1 || left.Reason == "" || !left.FailingSince.Equal(began) || pause < most/2 || pause > most {
			t.Fatalf("attempt %d: %d wait, %d in vain, %v; %+v after %s", attempt, waiting, failing, err, left, pause)
		}
		now = left.DueAt
	}
	to.failing["A"] = false
	if _, err := manager.SendDue(t.Context()); err != nil || len(box.pending) != 0 {
		t.Errorf("%v are left, %v", box.pending, err)
	}
	if manager.Failures.Load() != 12 || manager.Sent.Load() != 2 {
		t.Errorf("%d failures, %d sent", manager.Failures.Load(), manager.Sent.Load())
	}
}

// A running manager sends everything page by page, with and without Wake, and stops with its context.
func TestRun(t *testing.T) {
	for _, wake := range []bool{true, false} {
		box, to := &memory{}, newReceiver()
		settings := process.Settings{Every: 20 * time.Millisecond}
		if wake {
			settings.Every = time.Hour
		}
		manager := process.NewManager("cancel-all", box, to.send, settings)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { manager.Run(ctx) })
		for i := range 350 {
			if err := box.Add(t.Context(), nil, []process.Command{commandFor(t, fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
		if wake {
			manager.Wake()
		}
		testenv.Eventually(t, 5*time.Second, func() error {
			if waiting, _, _ := box.Count(t.Context()); waiting > 0 {
				return fmt.Errorf("%d commands wait", waiting)
			}
			return nil
		})
		stop()
		running.Wait()
		if len(to.got) != 350 {
			t.Errorf("%d commands were sent", len(to.got))
		}
	}
}
