package tasks_test

import (
	"cmp"
	"context"
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

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/tests/codectest"
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
	es.Reader
	mutex   sync.Mutex
	states  map[string]task.Task
	journal map[string][]es.Entry // of tasks, by id
	kinds   map[string]task.Kind
	created []string // the ids of tasks, oldest first
	files   map[string][]byte

	applied  map[string]int  // by idempotency key: the number of times a line was applied
	order    []string        // the texts of lines in the order of application
	busy     int             // the number of attempts at a line that fail temporarily
	onResult func()          // called before a part of a result is stored
	onSay    func(say) error // called before a line is handled
	events   []string        // of the thread that is exported
	denied   error           // why exporting is rejected
	suspend  atomic.Bool     // the tenant is suspended
	behind   bool            // the rows do not say that a task is finished
	full     bool            // there is no room for files
	refuses  error           // why commands on tasks fail
	byKey    map[string]es.Result
	swept    atomic.Bool   // expired files were deleted
	waits    time.Duration // how long a line takes
	broken   error         // why files can't be read
	keys     *erasure.Keyring
	problem  string // of rejected lines, for people
}

func newWorld() *world {
	return &world{states: map[string]task.Task{}, journal: map[string][]es.Entry{}, kinds: map[string]task.Kind{}, files: map[string][]byte{}, applied: map[string]int{}, byKey: map[string]es.Result{}, problem: "it has a !"}
}

// Handle handles a command on a task.
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
	state, key := w.states[r.ID], es.AggregateID{Tenant: r.Caller.Tenant, Type: task.AggregateType, ID: r.ID}
	for _, event := range events {
		state = state.Apply(event)
		if created, begins := event.(task.Created); begins {
			w.kinds[r.ID], w.created = created.Kind, append(w.created, r.ID)
		}
		number := uint64(len(w.journal[r.ID]) + 1)
		payload, err := task.Events().Encode(es.Recorded[task.Event]{Event: event, Envelope: es.Envelope{
			EventID: codectest.EventID, AggregateType: key.Type, AggregateID: key.ID, SeqNr: number, OccurredAt: time.Now().UTC().Truncate(time.Microsecond), Caller: r.Caller,
		}})
		if err != nil {
			return es.Result{}, err
		}
		w.journal[r.ID] = append(w.journal[r.ID], es.Entry{SeqNr: number, Payload: payload})
	}
	w.states[r.ID] = state
	result := es.Result{Key: key, Version: uint64(len(w.journal[r.ID]))}
	if r.IdempotencyKey != "" {
		w.byKey[r.IdempotencyKey] = result
	}
	return result, nil
}

// entries are those of a task, or of the thread that is exported.
func (w *world) entries(id es.AggregateID) (all []es.Entry) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if id.Type == task.AggregateType {
		return w.journal[id.ID]
	}
	for i, event := range w.events {
		all = append(all, es.Entry{SeqNr: uint64(i + 1), Payload: []byte(event)})
	}
	return all
}

// Head implements [es.Reader].
func (w *world) Head(_ context.Context, id es.AggregateID) (es.Head, error) {
	return es.Head{Version: uint64(len(w.entries(id)))}, nil
}

// Entries implements [es.Reader].
func (w *world) Entries(_ context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for _, entry := range w.entries(id)[after:upTo] {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// EntriesAt implements [es.Reader].
func (w *world) EntriesAt(_ context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for _, number := range seqNrs {
			if !yield(w.entries(id)[number-1], nil) {
				return
			}
		}
	}
}

// PutParts implements [es.Spool].
func (w *world) PutParts(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	if strings.HasSuffix(file.Name, "-result") && w.onResult != nil {
		w.onResult()
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.full {
		return es.ErrSpoolFull
	}
	for i, content := range parts {
		w.files[fmt.Sprint(file.Name, first+uint64(i))] = append([]byte{}, content...)
	}
	return ctx.Err()
}

// Part implements [es.Spool].
func (w *world) Part(_ context.Context, _ es.Tenant, name string, number uint64) ([]byte, bool, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	content, exists := w.files[fmt.Sprint(name, number)]
	return content, exists, w.broken
}

// DeleteFile implements [es.Spool].
func (w *world) DeleteFile(ctx context.Context, file es.File) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	maps.DeleteFunc(w.files, func(name string, _ []byte) bool { return strings.HasPrefix(name, file.Name) })
	return ctx.Err()
}

// DeleteExpired implements [es.Spool].
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

// say is the command of the lines: a text about something with a key. A text with a ! is rejected.
type say struct {
	rest.By
	Key  string `json:"key,omitempty" doc:"What it is about."`
	Text string `json:"text" doc:"What is said."`
}

func (s say) asked() es.Request[say] { return es.Request[say]{ID: s.Key, Command: s, Name: "line.Say"} }

// fill is a command with many fields. It is never valid.
type fill struct {
	rest.By
	A thread.ID `json:"a" doc:"An id."`
	B thread.ID `json:"b" doc:"An id."`
	C thread.ID `json:"c" doc:"An id."`
	D thread.ID `json:"d" doc:"An id."`
	E thread.ID `json:"e" doc:"An id."`
	F string    `json:"the_long_name_of_a_field_f" doc:"A text."`
	G string    `json:"the_long_name_of_a_field_g" doc:"A text."`
	H string    `json:"the_long_name_of_a_field_h" doc:"A text."`
	I string    `json:"the_long_name_of_a_field_i" doc:"A text."`
	J string    `json:"the_long_name_of_a_field_j" doc:"A text."`
	K string    `json:"the_long_name_of_a_field_k" doc:"A text."`
	L string    `json:"the_long_name_of_a_field_l" doc:"A text."`
	M string    `json:"the_long_name_of_a_field_m" doc:"A text."`
	N string    `json:"the_long_name_of_a_field_n" doc:"A text."`
	O string    `json:"the_long_name_of_a_field_o" doc:"A text."`
	P string    `json:"the_long_name_of_a_field_p" doc:"A text."`
}

func (fill) asked() es.Request[fill] { return es.Request[fill]{} }

type said struct {
	Done bool `json:"done"`
}

// commands are the operations that tasks can ask for.
func (w *world) commands() []rest.Aggregate {
	do := rest.Command(chat.Service[say](sayer{w}), func(es.Result) said { return said{true} }, say.asked)
	filling := rest.Command(chat.Service[fill](nil), func(es.Result) said { return said{} }, fill.asked)
	return []rest.Aggregate{{Name: "lines", Operations: []rest.Operation{{Path: "/say", Do: do}, {Path: "/fill", Do: filling}, erasure.Operation(eraser{sayer{w}})}}}
}

// eraser is the service of the accounts.
type eraser struct{ sayer }

func (w eraser) Handle(ctx context.Context, r es.Request[account.Command]) (es.Result, error) {
	if err := w.keys.Destroy(ctx, r.Caller.Tenant, r.ID); err != nil {
		return es.Result{}, err
	}
	return w.sayer.Handle(ctx, es.Request[say]{Command: say{Key: "closed", Text: r.ID}, IdempotencyKey: "closes " + r.ID})
}

// sayer is the service of the lines.
type sayer struct{ *world }

func (w sayer) Handle(ctx context.Context, r es.Request[say]) (es.Result, error) {
	if w.waits > 0 {
		_ = es.Wait(ctx, w.waits)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case ctx.Err() != nil:
		return es.Result{}, ctx.Err()
	case w.busy > 0:
		w.busy--
		return es.Result{}, es.ErrUnavailable
	case w.onSay != nil:
		if err := w.onSay(r.Command); err != nil {
			return es.Result{}, err
		}
	}
	switch {
	case strings.Contains(r.Command.Text, "!"):
		return es.Result{}, ident.Conflict("rejected", w.problem)
	}
	if w.applied[r.IdempotencyKey]++; w.applied[r.IdempotencyKey] == 1 {
		w.order = append(w.order, r.Command.Key+":"+r.Command.Text)
	}
	return es.Result{}, nil
}

func (sayer) Snapshot(context.Context, es.Caller, string) (uint64, error) { return 0, nil }

// problemOf is the problem of a rejected line.
func problemOf(t *testing.T, err error) string {
	t.Helper()
	body, err := json.Marshal(rest.ProblemOf(err))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Reload returns a thread whose only Admin is ada.
func (w *world) Reload(context.Context, es.AggregateID) (state es.State[thread.Thread], err error) {
	name, err := writing.ParseName("plans")
	if err == nil && w.denied == nil {
		state.Value = state.Value.Apply(thread.Created{Name: name, Members: []thread.Member{{User: ada, Role: thread.RoleAdmin}}})
	}
	return state, cmp.Or(err, w.denied)
}

func (w *world) store() tasks.Store {
	return tasks.Store{Events: w, Keys: w.keys, Handle: w.Handle, Thread: w.Reload}
}

// finished reports whether a task is; the caller has locked the world.
func (w *world) finished(id task.ID) bool {
	return errors.Is(w.states[id.String()].Usable(), task.ErrTaskFinished)
}

// find returns ada's task.
func (w *world) find(t *testing.T, id task.ID) tasks.Details {
	t.Helper()
	found, err := w.store().Find(t.Context(), es.Caller{Executor: ada.String()}, id.String())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// asked is what ada asks with.
func asked() rest.Conditions { return askedBy(ada) }

func askedBy(user ident.UserID) rest.Conditions {
	return rest.Conditions{Caller: es.Caller{Executor: user.String()}, Executor: user, Principal: admission.Principal{Account: user}}
}

// saying is a command of ada's with this body.
func saying(body string) rest.Prepared {
	return rest.Prepared{Conditions: asked(), Body: []byte(body), Name: "say", Content: body}
}

// created returns the id of a task that was just created.
func created(t *testing.T, result es.Result, err error) task.ID {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	id, err := ident.Parse[task.Task](result.Key.ID)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// work runs a worker until done returns true or ctx ends.
func (w *world) work(ctx context.Context, t *testing.T, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	worker := tasks.NewWorker(tasks.Ports{
		Unfinished: func(_ context.Context, kinds []task.Kind, without []es.Tenant, limit int) (toDo []es.AggregateID, err error) {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			if done() {
				stop()
			}
			if slices.Contains(without, es.Tenant("")) {
				return nil, nil
			}
			for _, id := range w.created {
				if len(toDo) < limit && (w.behind || w.states[id].Usable() == nil) && slices.Contains(kinds, w.kinds[id]) {
					toDo = append(toDo, es.AggregateID{Type: task.AggregateType, ID: id})
				}
			}
			return toDo, nil
		},
		IsActive: func(context.Context, es.Tenant) (bool, error) { return !w.suspend.Load(), nil },
		Store:    w.store(), Commands: w.commands(), Timeout: 10 * time.Second, Finish: func(context.Context) {}, Log: slog.New(slog.DiscardHandler),
	})
	worker.Run(ctx)
	stop()
}

// finish works until the task is finished, and returns it with its result.
func (w *world) finish(t *testing.T, id task.ID) (tasks.Details, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w.work(ctx, t, func() bool { return w.finished(id) })
	found, err := w.store().Find(t.Context(), es.Caller{Executor: ada.String()}, id.String())
	if err != nil || !found.Finished() {
		t.Fatalf("%+v, %v", found.Row, err)
	}
	parts, err := w.store().Result(t.Context(), found)
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
