// extra:whole

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/jmoiron/sqlx"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/lambdatest"
	"example.com/threads/usecase/chat"
)

const (
	schedules    = 200 // in make release-check
	fewSchedules = 8
	schedulesVar = "SCHEDULES"
	releaseVar   = "RELEASE_CHECK"

	shardsOfModel = 2
)

var seed = flag.Uint64("seed", 0, "the only schedule to run")

// Each seed selects the settings of a mapping, what happens, and the faults: environments that are killed or run out of
// time anywhere, answers that are lost, batches that are shuffled, repeated beside others, cut, or given up, records
// that can't be read, a journal that does not answer, and an event that can't be projected. In the end all rows must be
// what a fold of the journal says, and no closed account may be in a thread.
func TestSchedules(t *testing.T) {
	empty := emptyFile(t)
	eachSeed(t, fewSchedules, func(t *testing.T, seed uint64) { runSchedule(t, seed, empty) })
}

// eachSeed runs so many schedules, or more in make release-check, until one fails.
func eachSeed(t *testing.T, few uint64, run func(*testing.T, uint64)) {
	t.Helper()
	count := few
	if os.Getenv(releaseVar) != "" {
		count = schedules
	}
	if set, err := strconv.ParseUint(os.Getenv(schedulesVar), 10, 32); err == nil {
		count = set
	}
	for each := uint64(1); each <= count; each++ {
		if *seed != 0 && *seed != each {
			continue
		}
		if !t.Run(fmt.Sprint("seed ", each), func(t *testing.T) { run(t, each) }) {
			return
		}
	}
}

func openFile(t *testing.T, path string, migrate bool) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+path, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !migrate {
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	if _, err := migration.Up(t.Context(), db, append(system.Schemas(), sqlstore.Schema())...); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return nil
}

// model is an event store whose events are fed to a mapping, and a read model, each in a file.
type model struct {
	t          *testing.T
	random     *rand.Rand
	mu         sync.Mutex // of random, and below
	gateway    *sqlstore.Gateway
	folder     string
	mapping    *lambdatest.Mapping
	sequence   int
	threads    *chat.ThreadCommands
	accounts   *es.Service[account.Account, account.Command, account.Event]
	held       []lambdatest.Record // that the stream does not show yet
	lost       [][]byte            // messages to the destination on failure
	idle       []*handler
	faults     int // percent
	piece      int
	partitions byte
	unreadable map[es.AggregateID]uint64
	keys       map[es.AggregateID]bool
}

// faulty decides about a fault: one in so many of those that the schedule has.
func (m *model) faulty(one int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(100*one) < m.faults
}

func (m *model) below(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(n)
}

// tapped feeds what is appended.
type tapped struct {
	*sqlstore.Gateway
	m *model
}

func (g tapped) Append(ctx context.Context, write es.Append) error {
	if err := g.Gateway.Append(ctx, write); err != nil {
		return err
	}
	for _, entry := range write.Entries {
		g.m.feed(write.ID, entry)
	}
	return nil
}

// failing is the journal of the function, which does not answer at times.
type failing struct{ tapped }

func (g failing) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	if g.m.faulty(1) {
		return func(yield func(es.Entry, error) bool) { yield(es.Entry{}, es.ErrUnavailable) }
	}
	return g.tapped.Entries(ctx, id, after, upTo)
}

const unreadable = "not what was written"

func (m *model) feed(id es.AggregateID, entry es.Entry) {
	payload, broken := string(entry.Payload), m.faulty(4)
	if broken {
		payload = unreadable
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[id] = true
	m.sequence++
	sequence, created := fmt.Sprint(9_990+m.sequence), time.Now() // their lengths differ
	content, err := lambdatest.RecordJSON("INSERT", sequence, created, map[string]any{
		"pkey": map[string]any{"S": id.String()}, "skey": map[string]any{"S": fmt.Sprint(entry.SeqNr)},
		"payload": map[string]any{"S": payload}, "occurred_at": map[string]any{"N": fmt.Sprint(entry.OccurredAt.UnixMilli())},
	})
	if err != nil {
		m.t.Error(err)
	}
	partition := id.ID[len(id.ID)-1] % m.partitions
	m.held = append(m.held, lambdatest.Record{
		Shard: fmt.Sprint(partition % shardsOfModel), Item: fmt.Sprint(id, " ", entry.SeqNr), Sequence: sequence, Created: created, JSON: content,
	})
}

// release lets the stream show what it has held back.
func (m *model) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, record := range m.held {
		m.mapping.Feed(record)
	}
	m.held = nil
}

// places is where the model's records are. After so many, the time is over.
type places struct {
	left int
	over func()
}

func (p *places) Place(pkey, skey string) (id es.AggregateID, seqNr uint64, err error) {
	if p.left--; p.left == 0 {
		p.over()
	}
	kind, name, _ := strings.Cut(pkey, "-")
	seqNr, err = strconv.ParseUint(skey, 10, 64)
	return es.AggregateID{Type: kind, ID: name}, seqNr, err
}

// newHandler is an environment that starts.
func (m *model) newHandler(ctx context.Context) (*handler, error) {
	rows, err := database.Open(ctx, "sqlite:"+filepath.Join(m.folder, "rows.db"), database.Settings{Rebuildable: true})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	store := tapped{m.gateway, m}
	h := &handler{journal: failing{store}, stream: dynamodbstreams.Ports{Place: (&places{}).Place}, piece: m.piece, log: log, figuresTo: io.Discard}
	for _, manager := range system.Processes() {
		h.processes = append(h.processes, manager(&eventstore.Store{Gateway: store}, log))
	}
	if err := h.begin(ctx, rows); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return h, nil
}

// invoke is the function. With faults, an environment is killed, runs out of time, or its answer is lost.
func (m *model) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	m.mu.Lock()
	var h *handler
	if last := len(m.idle) - 1; last >= 0 {
		h, m.idle = m.idle[last], m.idle[:last]
	}
	m.mu.Unlock()
	if h == nil {
		made, err := m.newHandler(ctx)
		if err != nil {
			return nil, err
		}
		h = made
	}
	killed, late, unheard := m.faulty(2), m.faulty(1), m.faulty(4)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	at := &places{over: cancel}
	if more := len(event.Records) - m.piece; late && more > 0 {
		at.left = m.piece + 1 + m.below(more)
	}
	h.stream.Place = at.Place
	if killed {
		dying, kill := context.WithCancel(ctx)
		ctx = dying
		defer time.AfterFunc(time.Duration(m.below(30))*time.Millisecond, kill).Stop()
		defer kill()
	}
	answer, err := h.handle(ctx, event)
	if killed {
		_ = h.rows.Close()
		return nil, lambdatest.ErrExited
	}
	m.mu.Lock()
	m.idle = append(m.idle, h)
	m.mu.Unlock()
	if unheard || err != nil {
		return nil, errors.Join(lambdatest.ErrTimeout, err)
	}
	return json.Marshal(answer)
}

// newModel returns a model without faults, whose files are copies of an empty one.
func newModel(t *testing.T, empty []byte) *model {
	t.Helper()
	m := &model{
		t: t, random: rand.New(rand.NewPCG(1, 1)), folder: t.TempDir(), partitions: 1, unreadable: map[es.AggregateID]uint64{}, keys: map[es.AggregateID]bool{},
	}
	for _, name := range []string{"rows.db", "events.db"} {
		if err := os.WriteFile(filepath.Join(m.folder, name), empty, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gateway, err := sqlstore.New(t.Context(), openFile(t, filepath.Join(m.folder, "events.db"), false), sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	m.gateway = gateway
	m.threads = es.NewService(eventjson.Threads(), es.EventPersistenceGateway(tapped{gateway, m}), es.Settings{})
	m.accounts = es.NewService(eventjson.Accounts(), es.EventPersistenceGateway(tapped{gateway, m}), es.Settings{})
	t.Cleanup(func() { // before the file
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(m.threads.Close(ctx), m.accounts.Close(ctx), gateway.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return m
}

// emptyFile returns the content of a file with empty tables.
func emptyFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template.db")
	openFile(t, path, true)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// withThreads returns a model in which threads were created, whose records are held, and an environment that projects
// piece of them at once.
func withThreads(t *testing.T, threads, piece int) (*model, *handler) {
	t.Helper()
	m := newModel(t, emptyFile(t))
	m.piece = piece
	user := kit.NewID[ident.UserAccount]()
	for range threads {
		_, err := m.threads.Handle(t.Context(), chattest.Request(es.Caller{Executor: user.String()}, thread.ID{}, thread.Create{Executor: user, Name: writing.RecordedName("tea")}))
		if err != nil {
			t.Fatal(err)
		}
	}
	h, err := m.newHandler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.rows.Close() })
	return m, h
}

// The answer names the lowest number that is not done, in whatever order records come. All before it is in the rows.
func TestTheLowestNumberIsNamed(t *testing.T) {
	m, h := withThreads(t, 12, 3)
	sent := slices.Clone(m.held)
	slices.Reverse(sent)
	for done, over := range map[int]int{3: 5, 6: 7, 9: 12} { // the time is over while this record is decoded
		var event events.DynamoDBEvent
		if err := json.Unmarshal(lambdatest.EventOf(sent), &event); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		h.stream.Place = (&places{left: over, over: cancel}).Place
		answer, err := h.handle(ctx, event)
		if err != nil || len(answer.BatchItemFailures) != 1 || answer.BatchItemFailures[0].ItemIdentifier != m.held[done].Sequence {
			t.Errorf("after %d: %+v, %v; want %s", done, answer, err, m.held[done].Sequence)
		}
		var there int
		if err := h.rows.GetContext(t.Context(), &there, "SELECT COUNT(*) FROM threads"); err != nil || there < done {
			t.Errorf("%d threads are in the rows, not %d, %v", there, done, err)
		}
	}
}

// mappingOf returns a mapping whose settings a seed selects.
func mappingOf(random *rand.Rand, seed uint64) *lambdatest.Mapping {
	return &lambdatest.Mapping{
		BatchSize: []int{1, 10, 100, 1000}[random.IntN(4)], Window: time.Duration(random.IntN(20)) * time.Millisecond,
		Tumbling: []time.Duration{0, 30 * time.Millisecond}[seed%2], Factor: 1 + random.IntN(10), Bisect: random.IntN(2) == 0,
		Retries: []int{-1, -1, -1, 0, 3}[random.IntN(5)], MaxAge: []time.Duration{0, 0, 0, 50 * time.Millisecond}[random.IntN(4)],
	}
}

func runSchedule(t *testing.T, seed uint64, empty []byte) {
	random := rand.New(rand.NewPCG(seed, seed))
	m := newModel(t, empty)
	m.random, m.faults, m.piece = random, []int{0, 20, 40}[random.IntN(3)], []int{1, 2, 3, pieceSize}[random.IntN(4)]
	m.partitions = 1 + byte(random.IntN(5))
	ctx, stop := context.WithCancel(t.Context())
	m.mapping = mappingOf(random, seed)
	m.mapping.Invoke, m.mapping.Faulty = m.invoke, func(batch []lambdatest.Record) ([]lambdatest.Record, bool) {
		if m.faulty(1) {
			m.mu.Lock()
			random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
			m.mu.Unlock()
		}
		return batch, m.faulty(2)
	}
	m.mapping.OnFailure = func(message []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lost = append(m.lost, message)
	}
	m.mapping.Start(ctx)
	defer func() {
		stop()
		m.mapping.Wait()
		for _, h := range m.idle {
			_ = h.rows.Close()
		}
	}()
	// Later there is a repair only if batches were given up: it would hide what else is lost.
	faults := m.faults
	m.faults = 0 // so far nothing is concurrent
	if _, err := m.invoke(ctx, []byte(scheduled)); err != nil {
		t.Fatal(err)
	}
	m.faults = faults
	m.happen()
	m.finish()
	m.compare()
}

// happen sends commands.
func (m *model) happen() {
	var users []ident.UserID
	for range 4 {
		users = append(users, kit.NewID[ident.UserAccount]())
	}
	var threads []es.AggregateID
	closed := 0
	on := func(id thread.ID, c thread.Command) es.AggregateID {
		result, err := m.threads.Handle(m.t.Context(), chattest.Request(es.Caller{Executor: users[0].String()}, id, c))
		if kind := es.KindOf(err); err != nil && kind != es.Conflict && kind != es.Forbidden && kind != es.NotFound {
			m.t.Error(err)
		}
		return result.Key
	}
	for range 20 + m.below(60) {
		if m.below(40) == 0 {
			m.release()
		}
		who, roll := users[m.below(len(users))], m.below(20)
		switch {
		case len(threads) < 3 || roll == 0:
			threads = append(threads, on(thread.ID{}, thread.Create{Executor: who, Name: writing.RecordedName("tea")}))
		case roll == 1 && closed < 2:
			closed++
			m.account(who, account.Register{Name: writing.RecordedName("x")})
			m.account(who, account.Close{})
		case roll == 2 && len(m.unreadable) == 0:
			m.writeUnreadable()
		case roll < 8:
			on(chat.ThreadID(threads[m.below(len(threads))]), thread.AddMember{Executor: who, User: users[m.below(len(users))], Role: thread.RoleAdmin})
		default:
			on(chat.ThreadID(threads[m.below(len(threads))]), thread.PostMessage{Executor: who, Text: thread.RecordedText("cup")})
		}
	}
}

func (m *model) account(user ident.UserID, c account.Command) {
	caller := es.Caller{Executor: user.String()}
	_, err := m.accounts.Handle(m.t.Context(), es.Request[account.Command]{Caller: caller, ID: user.String(), Command: c, Name: account.CommandName(c)})
	if err != nil && es.KindOf(err) != es.Conflict && es.KindOf(err) != es.NotFound {
		m.t.Error(err)
	}
}

// writeUnreadable writes an event that can't be read to a new thread.
func (m *model) writeUnreadable() {
	id := es.AggregateID{Type: "thread", ID: kit.NewID[thread.Thread]().String()}
	m.unreadable[id] = 1
	err := tapped{m.gateway, m}.Append(m.t.Context(), es.Append{ID: id, Entries: []es.Entry{
		{SeqNr: 1, EventID: kit.NewID[struct{}]().String(), OccurredAt: time.Now(), Payload: []byte(`{"type":"ThreadPainted"}`)},
	}})
	if err != nil {
		m.t.Error(err)
	}
}

// scheduled is the event of a schedule.
const scheduled = `{"source":"aws.events","detail-type":"Scheduled Event"}`

// finish invokes the function as schedules and the queue of the destination do, without faults, until nothing is left
// to do.
func (m *model) finish() {
	testenv.Eventually(m.t, 60*time.Second, func() error {
		m.release()
		if n := m.mapping.Waiting(); n > 0 {
			return fmt.Errorf("%d records are not done", n)
		}
		return nil
	})
	m.mu.Lock()
	m.faults = 0
	m.mu.Unlock()
	rows := openFile(m.t, filepath.Join(m.folder, "rows.db"), false)
	testenv.Eventually(m.t, 60*time.Second, func() error {
		m.mu.Lock()
		lost := m.lost
		m.lost = nil
		m.mu.Unlock()
		invocations := [][]byte{[]byte(scheduled)}
		for _, message := range lost {
			invocations = append(invocations, lambdatest.FromQueue(message))
		}
		m.release()
		before := m.written()
		// As an operator does who does not wait.
		if _, err := rows.ExecContext(m.t.Context(), "UPDATE dead_letters SET retry_at = 0"); err != nil {
			m.t.Fatal(err)
		}
		for _, payload := range invocations {
			if _, err := m.invoke(m.t.Context(), payload); err != nil {
				m.t.Fatalf("%s: %v", payload, err)
			}
		}
		var pending []string
		if err := rows.SelectContext(m.t.Context(), &pending, "SELECT reason FROM process_commands"); err != nil {
			return err
		}
		var parked int
		if err := rows.GetContext(m.t.Context(), &parked, "SELECT COUNT(DISTINCT aggregate_id) FROM dead_letters"); err != nil {
			return err
		}
		if n := m.mapping.Waiting(); n > 0 || m.written() != before || len(lost) > 0 || len(pending) > 0 || parked > len(m.unreadable) {
			return fmt.Errorf("%d records are not done, %d aggregates are parked, and commands with these failures: %q", n, parked, pending)
		}
		return nil
	})
}

func (m *model) written() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sequence
}

// compare compares the rows with a fold of the journal.
func (m *model) compare() {
	t, db := m.t, openFile(m.t, filepath.Join(m.folder, "rows.db"), false)
	compareRows(t, db, m.gateway, m.keys, m.unreadable)
	var stayed int
	if err := db.GetContext(t.Context(), &stayed, `SELECT COUNT(*) FROM members
		JOIN accounts ON accounts.id = user_account_id JOIN threads ON threads.id = thread_id
		WHERE closed AND NOT removed AND NOT threads.deleted`); err != nil || stayed > 0 {
		t.Errorf("%d closed accounts are still in threads, %v", stayed, err)
	}
	report, err := rowstore.ReadReport(t.Context(), db, chatrows.Projection)
	if err != nil || !report.CaughtUp || time.Since(report.At) > time.Minute {
		t.Errorf("the report for the read-api is %+v, %v", report, err)
	}
}

// compareRows verifies that the rows of all aggregates are those of the journal, and that the unreadable ones are
// parked on the event that can't be read.
func compareRows(t *testing.T, db *sqlx.DB, journal es.Journal, keys map[es.AggregateID]bool, unreadable map[es.AggregateID]uint64) {
	t.Helper()
	store, err := rowstore.New(db, chatrows.Projection)
	if err != nil {
		t.Fatal(err)
	}
	parked := map[es.AggregateID]uint64{}
	letters, err := rowstore.Letters(t.Context(), db, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, letter := range letters {
		if letter.Projection == chatrows.Projection {
			parked[letter.Key] = letter.SeqNr
		}
	}
	projector := projection.New(store, journal, projection.Options{}, system.ReadModel().Handlers...)
	for key := range keys {
		if parked[key] != unreadable[key] {
			t.Errorf("%s is parked on event %d, want %d (0: not parked)", key, parked[key], unreadable[key])
		}
		if unreadable[key] > 0 {
			continue
		}
		found, err := projector.Verify(t.Context(), key)
		if err != nil || len(found.Differences) > 0 || found.Behind {
			t.Errorf("%s: %+v, %v", key, found, err)
		}
	}
}

// A shard waits for its delivery: commands that nobody decides must not hold it up for the ten seconds that they may
// take, and are due again later.
func TestADeliveryDoesNotWaitForCommands(t *testing.T) {
	m, h := withThreads(t, 1, pieceSize)
	h.processes[0].Send = func(ctx context.Context, _ es.Caller, _ string, _ process.Command) error {
		<-ctx.Done()
		return ctx.Err()
	}
	left := process.Command{Target: es.AggregateID{Type: thread.AggregateType, ID: kit.NewID[thread.Thread]().String()}, Name: "Withdraw", EventID: "an event"}
	err := h.stores[1].Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
		return h.outboxes[0].Add(ctx, tx, []process.Command{left})
	})
	if err != nil {
		t.Fatal(err)
	}
	var event events.DynamoDBEvent
	if err := json.Unmarshal(lambdatest.EventOf(m.held), &event); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	answer, err := h.handle(ctx, event)
	if took := time.Since(began); err != nil || len(answer.BatchItemFailures) > 0 || took > 9*time.Second {
		t.Errorf("after %s: %+v, %v", took, answer, err)
	}
	due, err := h.outboxes[0].Due(t.Context(), time.Now().Add(time.Minute), 1)
	if err != nil || len(due) != 1 || due[0].Attempts > 0 || due[0].DueAt.Before(began.Add(settleWithin)) {
		t.Errorf("due are %+v, %v", due, err)
	}
}

// A change that the stream has kept for most of a day may follow others that it has forgotten.
func TestOldChangesAskForARepair(t *testing.T) {
	m, h := withThreads(t, 1, pieceSize)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.tend(ctx, false); err != nil {
		t.Fatal(err)
	}
	for _, age := range []time.Duration{0, 11 * time.Hour, 13 * time.Hour} {
		var event events.DynamoDBEvent
		if err := json.Unmarshal(lambdatest.EventOf(m.held), &event); err != nil {
			t.Fatal(err)
		}
		event.Records[0].Change.ApproximateCreationDateTime.Time = time.Now().Add(-age)
		if _, err := h.deliver(ctx, event.Records); err != nil {
			t.Fatal(err)
		}
		for _, projector := range h.projectors {
			if due := !projector.RepairSince().IsZero(); due != (age > 12*time.Hour) {
				t.Errorf("%s after the first change a repair is due: %t", age, due)
			}
		}
	}
}

// Where what is due can't be read, the next batch must be projected all the same, and not be acknowledged unread.
func TestConsumersStayWhenTheyCannotBeMadeAnew(t *testing.T) {
	m := newModel(t, emptyFile(t))
	h, err := m.newHandler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.rows.Close() }()
	before := len(h.projectors)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // as every invocation has
	defer cancel()
	for _, statement := range []string{"ALTER TABLE row_sets RENAME TO elsewhere", "ALTER TABLE elsewhere RENAME TO row_sets"} {
		if _, err := h.rows.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if failed := h.tend(ctx, false) != nil; failed != strings.HasSuffix(statement, "elsewhere") {
			t.Errorf("after %s it has failed: %t", statement, failed)
		}
		if len(h.projectors) != before || len(h.outboxes) != len(h.processes) || before == 0 {
			t.Errorf("after %s there are %d projectors of %d, and %d outboxes", statement, len(h.projectors), before, len(h.outboxes))
		}
	}
}
