package tasks_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/chat"
)

var ada, bob = user("01ARZ3NDEKTSV4RRFFQ69G5FAV"), user("01BX5ZZKBKACTAV9WEVGEMMVRZ")

func user(text string) ident.UserID {
	id, err := ident.Parse[ident.UserAccount](text)
	if err != nil {
		panic(err)
	}
	return id
}

// world is an event store in memory, with the effects of lines and the faults for workers.
type world struct {
	mutex   sync.Mutex
	states  map[string]task.Task
	details map[string]tasks.Details
	files   map[string][]byte

	applied  map[string]int // by idempotency key: the number of times a line was applied
	order    []string       // the texts of lines in the order of application
	busy     int            // the number of attempts at a line that fail temporarily
	onResult func()         // called before a part of a result is stored
	events   []string       // of the thread that is exported
	denied   error          // why exporting is rejected
	suspend  atomic.Bool    // the tenant is suspended
	full     bool           // there is no room for files
	refuses  error          // why commands on tasks fail
	byKey    map[string]es.Result
	ids      uint16
	swept    atomic.Bool   // expired files were deleted
	waits    time.Duration // how long a line takes
	broken   error         // why files can't be read
	keys     *erasure.Keyring
	problem  string // of rejected lines
}

func newWorld() *world {
	return &world{states: map[string]task.Task{}, details: map[string]tasks.Details{}, files: map[string][]byte{}, applied: map[string]int{}, byKey: map[string]es.Result{}, problem: `{"code":"rejected"}`}
}

// Handle implements [tasks.Handler].
func (w *world) Handle(ctx context.Context, r es.Request[task.Order]) (es.Result, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := cmp.Or(ctx.Err(), w.refuses); err != nil {
		return es.Result{}, err
	}
	if before, repeated := w.byKey[r.IdempotencyKey]; repeated {
		return before, nil
	}
	events, err := task.Decide(w.states[r.ID], r.Command)
	if err != nil {
		return es.Result{}, err
	}
	state, found := w.states[r.ID], w.details[r.ID]
	key := es.AggregateID{Tenant: r.Caller.Tenant, Type: task.AggregateType, ID: r.ID}
	for _, event := range events {
		state = state.Apply(event)
		recorded := es.Recorded[task.Event]{Event: event, Envelope: es.Envelope{
			AggregateType: key.Type, AggregateID: key.ID, SeqNr: found.Version + 1, OccurredAt: time.Now(), Caller: r.Caller,
		}}
		if found.Task, err = chat.NextTask(found.Task, found.Version > 0, recorded); err != nil {
			return es.Result{}, err
		}
		if created, is := event.(task.Created); is {
			found.Request, found.Envelope = created.Request, recorded.Envelope
		}
	}
	found.Progress = state.Memento().Progress
	w.states[r.ID], w.details[r.ID] = state, found
	result := es.Result{Key: key, Version: found.Version}
	if r.IdempotencyKey != "" {
		w.byKey[r.IdempotencyKey] = result
	}
	return result, nil
}

// Find implements [tasks.Reader].
func (w *world) Find(_ context.Context, _ es.Tenant, id task.ID) (tasks.Details, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	found, exists := w.details[id.String()]
	if !exists {
		return found, task.ErrTaskNotFound
	}
	return found, nil
}

// PutParts implements [tasks.Files].
func (w *world) PutParts(ctx context.Context, file tasks.File, first uint64, parts ...[]byte) error {
	if strings.HasSuffix(file.Name, "-result") && w.onResult != nil {
		w.onResult()
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.full {
		return tasks.ErrNoRoom
	}
	for i, content := range parts {
		w.files[fmt.Sprint(file.Name, first+uint64(i))] = append([]byte{}, content...)
	}
	return ctx.Err()
}

// Part implements [tasks.Files].
func (w *world) Part(_ context.Context, file tasks.File, number uint64) ([]byte, bool, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	content, exists := w.files[fmt.Sprint(file.Name, number)]
	return content, exists, w.broken
}

// Delete implements [tasks.Files].
func (w *world) Delete(ctx context.Context, file tasks.File) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	maps.DeleteFunc(w.files, func(name string, _ []byte) bool { return strings.HasPrefix(name, file.Name) })
	return ctx.Err()
}

// DeleteExpired implements [tasks.Files].
func (w *world) DeleteExpired(context.Context) (int, error) { w.swept.Store(true); return 0, nil }

// held returns the number of stored parts of inputs.
func (w *world) held() (parts int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for name := range w.files {
		if strings.Contains(name, "-input") {
			parts++
		}
	}
	return parts
}

// Prepare implements [tasks.Commands]. A line is {"key","text"}; a text with a ! is rejected.
func (w *world) Prepare(line tasks.Line) (string, func(context.Context) (tasks.Outcome, error)) {
	if line.Erased {
		return "", func(context.Context) (tasks.Outcome, error) {
			return tasks.Outcome{Body: []byte(`{"code":"erased"}`), Rejected: "its author is erased"}, nil
		}
	}
	raw := line.Raw
	if raw == nil {
		raw = line.Body
	}
	var said struct{ Key, Text string }
	err := json.Unmarshal(raw, &said)
	return said.Key, func(ctx context.Context) (tasks.Outcome, error) {
		if w.waits > 0 {
			_ = es.Wait(ctx, w.waits)
		}
		w.mutex.Lock()
		defer w.mutex.Unlock()
		switch {
		case ctx.Err() != nil:
			return tasks.Outcome{}, ctx.Err()
		case w.busy > 0:
			w.busy--
			return tasks.Outcome{}, es.ErrUnavailable
		case err != nil || strings.Contains(said.Text, "!"):
			return tasks.Outcome{Body: []byte(w.problem), Rejected: "it has a !"}, nil
		}
		if w.applied[line.IdempotencyKey]++; w.applied[line.IdempotencyKey] == 1 {
			w.order = append(w.order, said.Key+":"+said.Text)
		}
		return tasks.Outcome{Body: []byte(`{"done":true}`)}, nil
	}
}

// authorOf implements [tasks.AuthorOf]: a line may have an "author".
func authorOf(line []byte) string {
	var said struct{ Author string }
	_ = json.Unmarshal(line, &said) // what is no JSON has none
	return said.Author
}

// CheckExport implements [tasks.Threads].
func (w *world) CheckExport(context.Context, es.Tenant, thread.ID, ident.UserID) error {
	return w.denied
}

// Version implements [tasks.Journal].
func (w *world) Version(context.Context, es.AggregateID) (uint64, error) {
	return uint64(len(w.events)), nil
}

// Events implements [tasks.Journal].
func (w *world) Events(_ context.Context, _ es.AggregateID, after, upTo uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, event := range w.events[after:upTo] {
			if !yield([]byte(event), nil) {
				return
			}
		}
	}
}

func (w *world) intake() *tasks.Intake {
	return &tasks.Intake{Handler: w, Reader: w, Files: w, Threads: w, Keys: w.keys, AuthorOf: authorOf, Clock: time.Now, NewID: func() task.ID {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		return ident.New[task.Task](time.Now(), w.next())
	}}
}

// next returns other bytes for each id.
func (w *world) next() (entropy [10]byte) {
	w.ids++
	binary.BigEndian.PutUint16(entropy[8:], w.ids)
	return entropy
}

func asked() tasks.Asked {
	return tasks.Asked{Caller: es.Caller{Executor: ada.String()}, Creator: ada}
}

// created returns the id of a task that was just created.
func created(t *testing.T, result es.Result, err error) task.ID {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return chat.TaskID(result.Key)
}

// work runs a worker until done returns true or ctx ends.
func (w *world) work(ctx context.Context, t *testing.T, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	worker := tasks.NewWorker(tasks.Ports{
		Unfinished: func(_ context.Context, kinds []task.Kind, without []es.Tenant, _ int) (toDo []es.AggregateID, err error) {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			if done() {
				stop()
			}
			if slices.Contains(without, es.Tenant("")) {
				return nil, nil
			}
			for id, found := range w.details {
				for _, kind := range kinds {
					if kind == found.Kind && !found.Finished() {
						toDo = append(toDo, es.AggregateID{Type: task.AggregateType, ID: id})
					}
				}
			}
			return toDo, nil
		},
		IsActive: func(context.Context, es.Tenant) (bool, error) { return !w.suspend.Load(), nil },
		Handler:  w, Reader: w, Files: w, Keys: w.keys, AuthorOf: authorOf, Commands: w, Threads: w, Journal: w, Log: slog.New(slog.DiscardHandler), Source: "tasks",
		Look: time.Millisecond, Retry: time.Microsecond, ReportEvery: time.Nanosecond,
	})
	worker.Run(ctx)
	stop()
}

// finish works until the task is finished, and returns it with its result.
func (w *world) finish(t *testing.T, id task.ID) (tasks.Details, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w.work(ctx, t, func() bool { return w.details[id.String()].Finished() })
	found, err := w.intake().Find(t.Context(), es.Tenant(""), ada, id)
	if err != nil || !found.Finished() {
		t.Fatalf("%+v, %v", found.Task, err)
	}
	parts, err := w.intake().Result(t.Context(), es.Tenant(""), ada, id)
	if err != nil {
		t.Fatal(err)
	}
	var result strings.Builder
	for part, err := range parts {
		if err != nil {
			t.Fatal(err)
		}
		result.Write(part)
	}
	return found, result.String()
}

var errKilled = errors.New("killed")

// send sends a command on a task.
func (w *world) send(t *testing.T, id task.ID, order task.Order) error {
	_, err := w.Handle(t.Context(), es.Request[task.Order]{ID: id.String(), Command: order, Caller: asked().Caller})
	return err
}

func newThread(t *testing.T) thread.ID {
	t.Helper()
	return ident.New[thread.Thread](time.Now(), [10]byte{1})
}
