package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/tests/programs"
)

// How long clients work in all, from the environment: make soak sets it. A round has new threads, so that each stays
// short.
const (
	soakVar = "SOAK"
	round   = 20 * time.Second
	short   = 8 * time.Second
)

// Ten clients send commands and queries to two processes of each program, which are killed and paused, and whose wires
// to DynamoDB and MySQL have faults. The answers must be those of threads whose commands happen one after another, each
// at some moment between its request and its answer (linearizable, as Porcupine checks). Rows may be late, but never
// show what was not true, never go back for a client that sends tokens, and follow each subscription in order.
func TestHistoriesAreLinearizable(t *testing.T) {
	startsPrograms(t)
	stores := map[string]func(*testing.T) []string{"on DynamoDB and MySQL": dynamoDB, "on one MySQL": oneMySQL, "on SQLite": sqliteFiles}
	for name, environment := range stores {
		t.Run(name, func(t *testing.T) {
			between := newWires(rand.Uint64())
			twice := twoOfEach(t, between.through(t, environment(t)))
			twice.wires = between
			length, until := short, time.Now()
			if text := os.Getenv(soakVar); text != "" {
				all, err := time.ParseDuration(text)
				if err != nil {
					t.Fatalf("%s=%s: want a duration such as 1h: %v", soakVar, text, err)
				}
				length, until = round, until.Add(all/time.Duration(len(stores)))
			}
			for number := 1; ; number++ {
				newTrial(t, twice, rand.Uint64()).run(t, length)
				if t.Failed() || time.Until(until) <= 0 {
					t.Logf("rounds: %d; kills: %d; pauses and outages: %d; faults of wires: %s", number, twice.kills, twice.others, between)
					return
				}
			}
		})
	}
}

func sqliteFiles(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	return []string{
		"EVENT_STORE=sqlite", "EVENT_STORE_URL=sqlite:" + filepath.Join(folder, "events.db"),
		"DATABASE_URL=sqlite:" + filepath.Join(folder, "readmodel.db"), snapshotsOften,
	}
}

// pair is a system with two processes of each program, which share a store and rows.
type pair struct {
	systems       [2]*system
	programs      []*programs.Program
	wires         *wires
	kills, others int // faults
}

func twoOfEach(t *testing.T, env []string) *pair {
	t.Helper()
	first := threePrograms(t, env)
	second := threePrograms(t, append(slices.Clone(env), "STORE_TIMEOUT=5s", "READ_WAIT_TIMEOUT=2s")) // the defaults
	return &pair{systems: [2]*system{first, second}, programs: []*programs.Program{
		first.writer, second.writer, first.projector, second.projector, first.reader, second.reader,
	}}
}

// trouble kills or pauses one program after another, or cuts all wires, until the context ends. A pause can outlast an
// updater's turn.
func (p *pair) trouble(ctx context.Context, t *testing.T, random *rand.Rand) {
	for ctx.Err() == nil {
		victim := p.programs[random.IntN(len(p.programs))]
		switch random.IntN(4) {
		case 0:
			p.others++
			p.wires.outage(time.Duration(random.IntN(3000)) * time.Millisecond)
		case 1, 2:
			p.kills++
			victim.Kill(t)
			p.wires.rough.Store(false) // a program that does not find its database when it starts ends
			victim.Start(t)
			p.wires.rough.Store(true)
		default:
			p.others++
			pid := victim.PID(t)
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			_ = es.Wait(ctx, time.Duration(random.IntN(12_000))*time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		_ = es.Wait(ctx, time.Duration(random.IntN(500))*time.Millisecond)
	}
}

// trial is what clients asked and were told in one round.
type trial struct {
	pair    *pair
	seed    uint64
	ada     person // Admin of all threads; each client sends her commands
	threads []string
	others  []string // whom clients add and remove

	mutex    sync.Mutex
	commands []porcupine.Operation
	unknown  map[string]porcupine.Operation // posts without a key whose answer was lost, by text
	views    []seenView
	posted   []string // messages that clients delete
	began    time.Time
}

// seenView is a thread as a query or a subscription showed it.
type seenView struct {
	thread string
	threadView
	how string
}

func newTrial(t *testing.T, p *pair, seed uint64) *trial {
	t.Helper()
	h := &trial{pair: p, seed: seed, ada: p.systems[0].person(""), began: time.Now(), unknown: map[string]porcupine.Operation{}}
	for range 3 {
		h.others = append(h.others, ulid.Make().String())
		call := h.now()
		created := h.ada.command(t, "/threads/create", fields{"name": "tea"})
		h.threads = append(h.threads, created.text("thread_id"))
		h.note(call, asked{created.text("thread_id"), "/threads/create", "tea", 0}, told{version: 1})
	}
	return h
}

func (h *trial) now() int64 { return time.Since(h.began).Nanoseconds() }

func (h *trial) note(call int64, what asked, answer told) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.commands = append(h.commands, porcupine.Operation{Input: what, Call: call, Output: answer, Return: h.now()})
}

// run lets clients work for so long, and judges what they were told.
func (h *trial) run(t *testing.T, length time.Duration) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the seed was %d", h.seed)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var group sync.WaitGroup
	for number := range 10 {
		group.Go(func() { h.client(ctx, t, rand.New(rand.NewPCG(h.seed, uint64(number)))) })
	}
	for number, thread := range h.threads {
		group.Go(func() { h.subscriber(ctx, t, h.pair.systems[number%2], thread) })
	}
	h.pair.wires.rough.Store(true)
	h.pair.trouble(ctx, t, rand.New(rand.NewPCG(h.seed, math.MaxUint64)))
	h.pair.wires.rough.Store(false)
	group.Wait()
	h.settle(t)
	h.judge(t)
}

// client sends one command or query after another, to either process.
func (h *trial) client(ctx context.Context, t *testing.T, random *rand.Rand) {
	latest := map[string]int{} // what the client has seen of each thread
	for ctx.Err() == nil && !t.Failed() {
		thread := h.threads[random.IntN(len(h.threads))]
		what := asked{thread: thread}
		switch random.IntN(10) {
		case 0, 1, 2:
			what.path = "/threads/post_message"
			h.post(ctx, t, random, what, latest)
			continue
		case 3:
			what.path, what.about = "/threads/rename", []string{"tea", "coffee", "water"}[random.IntN(3)]
		case 4:
			what.path, what.about, what.match = "/threads/rename", ulid.Make().String(), max(1, latest[thread])
		case 5:
			what.path, what.about = "/threads/add_member", h.others[random.IntN(len(h.others))]
		case 6:
			what.path, what.about = "/threads/remove_member", h.others[random.IntN(len(h.others))]
		case 7:
			if what.path, what.about = "/threads/delete_message", h.someMessage(random); what.about == "" {
				continue
			}
		case 8:
			h.readHistory(ctx, random, thread)
			continue
		default:
			h.look(ctx, t, random, thread, latest)
			continue
		}
		h.command(ctx, t, random, what, latest, true)
	}
}

func (h *trial) someMessage(random *rand.Rand) string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.posted) == 0 {
		return ""
	}
	return h.posted[random.IntN(len(h.posted))]
}

func (h *trial) post(ctx context.Context, t *testing.T, random *rand.Rand, what asked, latest map[string]int) {
	what.about = ulid.Make().String() // the text, which no other post has
	if answer, known := h.command(ctx, t, random, what, latest, random.IntN(2) == 0); known && answer.code == "" {
		h.mutex.Lock()
		h.posted = append(h.posted, answer.message)
		h.mutex.Unlock()
	}
}

// command sends a command, with a key until it is answered, and some once more: they must get the same answer. Without
// a key the answer can stay unknown.
func (h *trial) command(ctx context.Context, t *testing.T, random *rand.Rand, what asked, latest map[string]int, keyed bool) (told, bool) {
	body := fields{"thread_id": what.thread}
	body[map[string]string{
		"/threads/post_message": "text", "/threads/rename": "name", "/threads/delete_message": "message_id",
	}[what.path]] = what.about
	if field := body[""]; field != nil { // of members
		delete(body, "")
		body["user_account_id"] = field
	}
	if what.path == "/threads/add_member" {
		body["role"] = "Member"
	}
	header := headers{}
	if keyed {
		header["Idempotency-Key"] = ulid.Make().String()
	}
	if what.match != 0 {
		header["If-Match"] = fmt.Sprintf("%q", fmt.Sprint(what.match))
	}
	// A client that got no answer to its key goes on after the round, so that every such command has one.
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	call := h.now()
	var first *told
	for {
		ada := h.ada.at(h.pair.systems[random.IntN(2)])
		a, err := ada.try(patience, what.path, body, header)
		lost := err != nil || a.status == 503
		switch {
		case lost && patience.Err() != nil:
			t.Errorf("%+v was not answered: %d %s, %v", what, a.status, a.raw, err)
			return told{}, false
		case lost && !keyed:
			h.mutex.Lock()
			h.unknown[what.about] = porcupine.Operation{Input: what, Call: call, Return: math.MaxInt64}
			h.mutex.Unlock()
			return told{}, false
		case lost, a.text("code") == "concurrent_update":
			_ = es.Wait(patience, 20*time.Millisecond)
			continue
		case a.status/100 == 5 || a.status == 400 || a.status == 422:
			t.Errorf("%+v: %d %s", what, a.status, a.raw)
			return told{}, false
		}
		answer := told{code: a.text("code"), version: a.version(), message: a.text("message_id")}
		if what.path != "/threads/post_message" {
			answer.message = ""
		}
		if current, found := a.body["current_version"].(float64); found {
			answer.version = int(current)
		} else if answer.code != "" {
			answer.version = anyVersion
		}
		if first != nil {
			if answer != *first || a.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%+v was answered by %+v, and then by %+v", what, *first, answer)
			}
			return answer, true
		}
		latest[what.thread] = max(latest[what.thread], answer.version)
		h.note(call, what, answer)
		if !keyed || answer.code != "" || random.IntN(8) > 0 {
			return answer, true
		}
		first = &answer
	}
}

// readHistory reads the number of a thread's last event. From a read-api that is killed nothing is learned.
func (h *trial) readHistory(ctx context.Context, random *rand.Rand, thread string) {
	call := h.now()
	var page historyPage
	ada := h.ada.at(h.pair.systems[random.IntN(2)])
	errs, err := ada.query(ctx, &page, historyQuery, fields{"t": thread, "u": ada.id, "last": 1})
	if edges := page.ThreadHistory.Edges; err == nil && len(errs) == 0 && len(edges) == 1 {
		h.note(call, asked{thread: thread, path: historyRead}, told{version: edges[0].Node.SeqNr})
	}
}

// look queries a thread, mostly with a token of the latest version that the client has seen.
func (h *trial) look(ctx context.Context, t *testing.T, random *rand.Rand, thread string, latest map[string]int) {
	var tokens []string
	least := 0
	if seen := latest[thread]; seen > 0 && random.IntN(4) > 0 {
		tokens, least = []string{fmt.Sprintf("%s:%d", thread, seen)}, seen
	}
	view, errs, err := h.ada.at(h.pair.systems[random.IntN(2)]).tryView(ctx, thread, tokens...)
	if err != nil || len(errs) > 0 {
		if len(errs) > 0 && !slices.Contains(passing, errs[0].Extensions.Code) {
			t.Errorf("a query: %+v", errs)
		}
		return
	}
	if view.Version < least {
		t.Errorf("a query with the token of version %d shows version %d", least, view.Version)
	}
	latest[thread] = max(latest[thread], view.Version)
	h.see(seenView{thread, view, "a query"})
}

func (h *trial) see(v seenView) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.views = append(h.views, v)
}

// subscriber follows a thread at one process, and begins again when the connection is cut.
func (h *trial) subscriber(ctx context.Context, t *testing.T, at *system, thread string) {
	for ; ctx.Err() == nil; _ = es.Wait(ctx, 50*time.Millisecond) {
		last := 0
		err := h.ada.at(at).subscribe(ctx, thread, threadFields, func(changed threadData) {
			view := changed.view()
			if view.Version <= last {
				t.Errorf("a subscription shows version %d after version %d", view.Version, last)
			}
			last = view.Version
			h.see(seenView{thread, view, "a subscription"})
		})
		if code := queryCode(""); errors.As(err, &code) && !slices.Contains(passing, string(code)) {
			t.Errorf("a subscription: %v", err)
		}
	}
}

// passing are errors that a kill, a pause or a late row explains.
var passing = []string{"READ_MODEL_BEHIND", "UNAVAILABLE", "NOT_FOUND"}

// settle asks the journal what became of posts whose answer was lost.
func (h *trial) settle(t *testing.T) {
	t.Helper()
	for _, thread := range h.threads {
		after, last := "", 0
		for {
			var page historyPage
			h.ada.ask(t, &page, historyQuery, fields{"t": thread, "u": h.ada.id, "first": 500, "after": orNull(after)})
			for _, edge := range page.ThreadHistory.Edges {
				if last++; edge.Node.SeqNr != last {
					t.Fatalf("event %d comes after %d", edge.Node.SeqNr, last-1)
				}
				after = edge.Cursor
				message := edge.Node.Data.Message
				if lost, found := h.unknown[message.Text]; found && edge.Node.Type == "ThreadMessagePosted" {
					lost.Output = told{version: last, message: message.ID.Value}
					h.commands = append(h.commands, lost)
					delete(h.unknown, message.Text)
				}
			}
			if !page.ThreadHistory.PageInfo.HasNextPage {
				break
			}
		}
		h.see(seenView{thread, h.ada.view(t, thread, fmt.Sprintf("%s:%d", thread, last)), "the last query"})
		if shown := h.views[len(h.views)-1].Version; shown != last {
			t.Errorf("the last query shows version %d of %d", shown, last)
		}
	}
}

// judge has the answers to commands checked, and compares all views with the states that the commands led to.
func (h *trial) judge(t *testing.T) {
	t.Helper()
	if result, info := porcupine.CheckOperationsVerbose(threads, h.commands, 5*time.Minute); result != porcupine.Ok {
		picture := filepath.Join(os.TempDir(), fmt.Sprintf("linearizable-%d.html", h.seed)) //nolint:usetesting // it is kept
		t.Errorf("the answers are not those of one command after another (%s); for a picture open %s", result, picture)
		if err := porcupine.VisualizePath(threads, info, picture); err != nil {
			t.Error(err)
		}
		return
	}
	states := h.states()
	for _, seen := range h.views {
		var members, messages []string
		for _, member := range seen.Members {
			if member.UserAccountID != h.ada.id {
				members = append(members, member.UserAccountID)
			}
		}
		for _, message := range seen.Messages {
			messages = append(messages, message.ID)
		}
		then := states[seen.thread]
		shown := func(list func(modelThread) []string, got []string) bool { // lists are read after the thread
			return slices.ContainsFunc(then[min(seen.Version, len(then)):], func(m modelThread) bool { return slices.Equal(list(m), got) })
		}
		if seen.Version >= len(then) || then[seen.Version].name != seen.Name ||
			!shown(func(m modelThread) []string { return m.members }, members) ||
			!shown(func(m modelThread) []string { return m.messages[:min(len(m.messages), mostMessages)] }, messages) {
			t.Fatalf("%s shows %+v, which was never true", seen.how, seen.threadView)
		}
	}
	t.Logf("answers: %d; views: %d; posts that never happened: %d", len(h.commands), len(h.views), len(h.unknown))
}

// states returns the states of each thread, by version.
func (h *trial) states() map[string][]modelThread {
	accepted := slices.DeleteFunc(slices.Clone(h.commands), func(one porcupine.Operation) bool {
		return one.Output.(told).code != "" || one.Input.(asked).path == historyRead
	})
	slices.SortFunc(accepted, func(a, b porcupine.Operation) int { return a.Output.(told).version - b.Output.(told).version })
	states := map[string][]modelThread{}
	for _, one := range accepted {
		what, answer := one.Input.(asked), one.Output.(told)
		if states[what.thread] == nil {
			states[what.thread] = []modelThread{{}}
		}
		before := states[what.thread]
		after, _ := before[len(before)-1].step(what, answer.message)
		states[what.thread] = append(before, after)
	}
	return states
}
