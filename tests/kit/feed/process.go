package feed

import (
	"cmp"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/tests/kit"
)

// Process is the process manager under test: a real projector passes events to its handlers, and they put commands into
// a real outbox, which only the rules empty.
type Process struct {
	Projector *projection.Projector
	Outbox    *process.Outbox
}

// NewProcess returns the named process manager, whose rows are in db. journal fills the gaps between events; nil if a
// test has no gaps.
func NewProcess(
	t testing.TB, db *sqlx.DB, name string, journal es.Journal, handlers func(*process.Outbox) []projection.Handler,
) Process {
	t.Helper()
	store, err := rowstore.New(db, name)
	if err != nil {
		t.Fatal(err)
	}
	box := process.New(db, store, name, slog.New(slog.DiscardHandler))
	return Process{projection.New(store, journal, projection.Options{}, handlers(box)...), box}
}

// Project passes one batch of events to the handlers.
func (p Process) Project(t testing.TB, batch ...projection.Record) {
	t.Helper()
	if _, err := p.Projector.Project(t.Context(), projection.Batch{Records: batch}); err != nil {
		t.Error(err)
	}
}

// Commands returns the commands in the outbox, ordered by target.
func (p Process) Commands(t testing.TB) []process.Command {
	t.Helper()
	due, err := p.Outbox.Due(t.Context(), time.Now().Add(time.Hour), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	commands := make([]process.Command, len(due))
	for i, pending := range due {
		commands[i] = pending.Command
	}
	slices.SortFunc(commands, func(a, b process.Command) int {
		return cmp.Or(cmp.Compare(a.Target.String(), b.Target.String()), cmp.Compare(a.EventID, b.EventID))
	})
	return commands
}

// ProcessRule is an example of one rule of a process manager. Its steps run when they are called.
type ProcessRule struct {
	t       *testing.T
	name    string
	process Process
}

// Rule starts the example of a rule. The outbox must be empty, which it is after every rule.
func (p Process) Rule(t *testing.T, name string) ProcessRule { return ProcessRule{t, name, p} }

// Given projects one batch of past events, and removes their commands.
func (r ProcessRule) Given(batch ...projection.Record) ProcessRule {
	r.t.Helper()
	r.process.Project(r.t, batch...)
	r.decided()
	return r
}

// When projects one batch of new events. It may be called repeatedly.
func (r ProcessRule) When(batch ...projection.Record) ProcessRule {
	r.t.Helper()
	r.process.Project(r.t, batch...)
	return r
}

// Then checks that exactly these commands, ordered by target, result from the new events.
func (r ProcessRule) Then(commands ...process.Command) {
	r.t.Helper()
	if diff := kit.Diff(append([]process.Command{}, commands...), r.process.Commands(r.t)); diff != "" {
		r.t.Errorf("%s: commands (-want +got):\n%s", r.name, diff)
	}
	r.decided()
}

func (r ProcessRule) decided() {
	r.t.Helper()
	if err := r.process.Outbox.Done(r.t.Context(), r.process.Commands(r.t)); err != nil {
		r.t.Fatal(err)
	}
}
