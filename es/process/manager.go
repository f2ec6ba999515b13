package process

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// Settings configure a [Manager]. Zero fields take their defaults.
type Settings struct {
	// Every is the interval of reading the outbox if Wake is not called. Default: 1 s.
	Every time.Duration
	// Timeout limits one attempt. Default: 30 s.
	Timeout time.Duration
	// Clock returns the current time. Default: time.Now.
	Clock func() time.Time
	// Logger receives failed attempts. Default: none.
	Logger *slog.Logger
}

// Manager sends the commands of one process.
type Manager struct {
	name     string
	outbox   Outbox
	send     Send
	settings Settings
	woken    chan struct{}

	Sent     atomic.Int64 // commands that were decided
	Failures atomic.Int64 // failed attempts
}

// NewManager makes the manager of the process with this name. It works while [Manager.Run] runs.
func NewManager(name string, outbox Outbox, send Send, settings Settings) *Manager {
	settings.Every = cmp.Or(settings.Every, time.Second)
	settings.Timeout = cmp.Or(settings.Timeout, 30*time.Second)
	if settings.Clock == nil {
		settings.Clock = time.Now
	}
	if settings.Logger == nil {
		settings.Logger = slog.New(slog.DiscardHandler)
	}
	return &Manager{name: name, outbox: outbox, send: send, settings: settings, woken: make(chan struct{}, 1)}
}

// Wake makes the manager read the outbox at once. It never blocks.
func (m *Manager) Wake() {
	select {
	case m.woken <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Run sends due commands until ctx ends.
func (m *Manager) Run(ctx context.Context) {
	look := time.NewTicker(m.settings.Every)
	defer look.Stop()
	for ctx.Err() == nil {
		sent, err := m.SendDue(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			m.settings.Logger.WarnContext(ctx, "the outbox of a process can't be reached; next try in a moment", "process", m.name, "error", err)
		case sent == page:
			continue
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-m.woken:
		}
	}
}

const (
	page       = 100 // commands sent before they are deleted
	atOnce     = 8   // of them, sent concurrently
	retryAfter = time.Second
	retryAtMax = 5 * time.Minute
)

// SendDue sends at most one page of due commands and returns their number. An error is the outbox's: the commands
// already sent are then sent again.
func (m *Manager) SendDue(ctx context.Context) (int, error) {
	due, err := m.outbox.Due(ctx, m.settings.Clock(), page)
	if err != nil {
		return 0, err
	}
	var mutex sync.Mutex
	var done []Command
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, pending := range due {
		group.Go(func() error {
			if err := m.try(groupCtx, pending.Command); err != nil {
				return m.postpone(groupCtx, pending, err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			done = append(done, pending.Command)
			return nil
		})
	}
	err = group.Wait()
	m.Sent.Add(int64(len(done)))
	if doneErr := m.outbox.Done(context.WithoutCancel(ctx), done); err == nil {
		err = doneErr
	}
	return len(due), err
}

func (m *Manager) try(ctx context.Context, command Command) error {
	ctx, cancel := context.WithTimeout(ctx, m.settings.Timeout)
	defer cancel()
	return m.send(ctx, command.caller(m.name), command.idempotencyKey(m.name), command)
}

// postpone delays a command: the delay doubles from a second to five minutes, less up to half at random.
func (m *Manager) postpone(ctx context.Context, pending Pending, failed error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // the program is stopping: the outcome is unknown
	}
	m.Failures.Add(1)
	if pending.Reason != failed.Error() {
		m.settings.Logger.WarnContext(ctx, "a command of a process can't be decided; it is sent again later", "process", m.name,
			"command", pending.Name, "aggregate", pending.Target.String(), "tenant", pending.Target.Tenant, "event_id", pending.EventID, "error", failed)
	}
	pause := es.Backoff(retryAfter, retryAtMax, pending.Attempts)
	if pending.Attempts == 0 {
		pending.FailingSince = m.settings.Clock()
	}
	pending.Attempts++
	pending.Reason = failed.Error()
	pending.DueAt = m.settings.Clock().Add(pause)
	return m.outbox.Postpone(ctx, pending)
}
