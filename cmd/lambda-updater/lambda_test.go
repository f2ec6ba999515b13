// extra:whole

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jmoiron/sqlx"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/lambdatest"
	"example.com/threads/tests/programs"
	"example.com/threads/usecase/chat"
)

// built is the folder of the program, which is built once.
var built = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "lambda-updater-")
	if err == nil {
		err = programs.Build(folder, ".")
	}
	return folder, err
})

func TestMain(m *testing.M) {
	code := testenv.Run(m)
	if folder, err := built(); err == nil && !testing.Short() {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// world is an event store and a read model on the real services, a writer, and the function.
type world struct {
	journal  string // table
	gateway  *dynamodb.Gateway
	threads  *chat.ThreadCommands
	accounts *es.Service[account.Account, account.Command, account.Event]
	db       *sqlx.DB
	function *lambdatest.Service
	output   *testenv.Log

	mu   sync.Mutex
	keys map[es.AggregateID]bool
}

func newWorld(t *testing.T, timeout time.Duration, environments int) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it runs whole programs")
	}
	name, url := testenv.UniqueName(t), testenv.MySQL(t)
	w := &world{journal: name + "_journal", keys: map[es.AggregateID]bool{}, output: &testenv.Log{}}
	client := dynamodb.NewClient(testenv.DynamoDBConfig(t))
	gateway, err := dynamodb.New(client, dynamodb.Settings{JournalTable: w.journal, SnapshotTable: name + "_snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(w.journal, name+"_snapshot")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, table := range []string{w.journal, name + "_snapshot"} { // many schedules make many
			_, _ = client.DeleteTable(context.WithoutCancel(t.Context()), &sdk.DeleteTableInput{TableName: &table})
		}
	})
	w.gateway, w.threads, w.accounts = gateway, es.NewService(eventjson.Threads(), gateway, es.Settings{}), es.NewService(eventjson.Accounts(), gateway, es.Settings{})
	if w.db, err = database.Open(t.Context(), url, database.Settings{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	w.function = lambdatest.NewService(t, &lambdatest.Service{
		Path: filepath.Join(folder, "lambda-updater"), Timeout: timeout, Output: w.output,
		Env: []string{
			"JOURNAL_TABLE=" + w.journal, "SNAPSHOT_TABLE=" + name + "_snapshot", "DATABASE_URL=" + url,
			"AWS_REGION=" + testenv.Region, "AWS_ACCESS_KEY_ID=" + testenv.AccessKeyID(t), "AWS_SECRET_ACCESS_KEY=" + testenv.SecretAccessKey,
			"AWS_ENDPOINT_URL_DYNAMODB=" + testenv.DynamoDB(t),
		},
	}, environments)
	t.Cleanup(func() {
		if t.Failed() {
			text := w.output.String()
			t.Logf("the last output of the environments:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return w
}

func (w *world) migrate(t *testing.T) *world {
	t.Helper()
	if _, err := migration.Up(t.Context(), w.db, system.Schemas()...); err != nil {
		t.Fatal(err)
	}
	return w
}

// on sends a command to a thread.
func (w *world) on(t *testing.T, id thread.ID, executor ident.UserID, c thread.Command) es.AggregateID {
	t.Helper()
	request := chattest.Request(es.Caller{Executor: executor.String()}, id, c)
	result, err := w.threads.Handle(t.Context(), request)
	for again := 0; err != nil && again < 20; again++ { // process managers write, too
		result, err = w.threads.Handle(t.Context(), request)
	}
	if err != nil {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys[result.Key] = true
	return result.Key
}

func (w *world) account(t *testing.T, user ident.UserID, c account.Command) {
	t.Helper()
	caller := es.Caller{Executor: user.String()}
	result, err := w.accounts.Handle(t.Context(), es.Request[account.Command]{Caller: caller, ID: user.String(), Command: c, Name: account.CommandName(c)})
	if err != nil {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys[result.Key] = true
}

// writeUnreadable writes an event that can't be read to a new thread.
func (w *world) writeUnreadable(t *testing.T) es.AggregateID {
	t.Helper()
	id := es.AggregateID{Type: "thread", ID: kit.NewID[thread.Thread]().String()}
	w.keys[id] = true
	err := w.gateway.Append(t.Context(), es.Append{ID: id, Entries: []es.Entry{
		{SeqNr: 1, EventID: kit.NewID[struct{}]().String(), OccurredAt: time.Now(), Payload: []byte(`{"type":"ThreadPainted"}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// records returns the records of the stream as Lambda hands them on.
func (w *world) records(t *testing.T, count int) []lambdatest.Record {
	t.Helper()
	records := lambdatest.Records(t.Context(), testenv.DynamoDBConfig(t), w.journal, count)
	if len(records) != count {
		t.Fatalf("%d records, not %d", len(records), count)
	}
	return records
}

// first returns the number from which on the records are to be delivered again; "": they are done.
func (w *world) invoke(t *testing.T, payload []byte) (first string) {
	t.Helper()
	body, err := w.function.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var answer events.DynamoDBEventResponse
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.BatchItemFailures) > 1 {
		t.Fatalf("%s: %v", body, err)
	}
	for _, failed := range answer.BatchItemFailures {
		first = failed.ItemIdentifier
	}
	return first
}

const soon = 2 * time.Minute

// faults are a mapping that delivers, and what happens meanwhile.
type faults struct {
	mapping     *lambdatest.Mapping
	fed, killed atomic.Int64 // records, and environments
	end         func()       // of all of it
}

// feed hands the records of the stream to a mapping, as of so many shards, until ctx ends, and counts them.
func (w *world) feed(ctx context.Context, t *testing.T, to *lambdatest.Mapping, shards int, fed *atomic.Int64) {
	t.Helper()
	err := lambdatest.Follow(ctx, testenv.DynamoDBConfig(t), w.journal, shards, func(r lambdatest.Record) {
		to.Feed(r)
		fed.Add(1)
	})
	if ctx.Err() == nil {
		t.Errorf("the stream: %v", err)
	}
}

// underFaults lets a mapping of so many shards deliver with a parallelisation factor of ten, and each tenth batch
// twice. So many environments are killed, or, each fifth, stopped until their time is over: the next one when so many
// more records were fed.
func (w *world) underFaults(t *testing.T, shards, batch, kills, every int) *faults {
	t.Helper()
	f := &faults{}
	ctx, stop := context.WithCancel(t.Context())
	calls, mu := 0, sync.Mutex{}
	f.mapping = (&lambdatest.Mapping{
		Invoke: w.function.Invoke, BatchSize: batch, Window: 50 * time.Millisecond, Factor: 10, Bisect: true, Retries: -1, Pause: 20 * time.Millisecond,
		Faulty: func(batch []lambdatest.Record) ([]lambdatest.Record, bool) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			return batch, calls%10 == 0
		},
	}).Start(ctx)
	var working sync.WaitGroup
	working.Go(func() { w.feed(ctx, t, f.mapping, shards, &f.fed) })
	working.Go(func() {
		for done := 0; done < kills && es.Wait(ctx, 10*time.Millisecond) == nil; done = int(f.killed.Load()) {
			if int(f.fed.Load()) < done*every {
				continue
			}
			end := w.function.Kill
			if done%5 == 4 {
				end = w.function.Stop
			}
			if end(done) {
				f.killed.Add(1)
			}
		}
	})
	f.end = func() {
		stop()
		f.mapping.Wait()
		working.Wait()
	}
	return f
}

// Environments are killed, and stopped until their time is over, while a mapping of eight shards and a parallelisation
// factor of ten delivers to them, some of it twice. Nothing is repaired, so what one answer claims too much is missing.
func TestKilledEnvironments(t *testing.T) {
	threads, posts, kills := 30, 40, 5
	if os.Getenv(releaseVar) != "" {
		threads, posts, kills = 500, 100, 20
	}
	w := newWorld(t, 5*time.Second, 4).migrate(t)
	w.invoke(t, []byte(scheduled)) // so that no repair is due
	faulty := w.underFaults(t, 8, 100, kills, threads*posts/kills)
	defer faulty.end()
	unreadable, closing := w.write(t, threads, posts, func() bool { return int(faulty.killed.Load()) == kills })
	testenv.Eventually(t, time.Duration(kills)*time.Minute, func() error {
		if n := faulty.mapping.Waiting(); n > 0 {
			return fmt.Errorf("%d records are not done", n)
		}
		if err := w.settled(t, closing); err != nil {
			return err
		}
		return w.complete(t, faulty.fed.Load())
	})
	faulty.end()
	compareRows(t, w.db, w.gateway, w.keys, map[es.AggregateID]uint64{unreadable: 1})
	slices.Sort(w.function.Cold)
	t.Logf("%d cold starts, p50 %s, the slowest %s; an environment had at most %d MiB resident", len(w.function.Cold),
		w.function.Cold[len(w.function.Cold)/2], w.function.Cold[len(w.function.Cold)-1], w.function.Memory>>10)
}

// The schedules of TestSchedules on the services: the built program behind Lambda's runtime API, the stream of DynamoDB
// Local, and MySQL or MariaDB. Environments are killed or stopped, batches are shuffled, repeated, and given up.
func TestSchedulesOnTheServices(t *testing.T) { eachSeed(t, 2, runOnServices) }

func runOnServices(t *testing.T, seed uint64) {
	w := newWorld(t, 2*time.Second, 4).migrate(t)
	testenv.Eventually(t, soon, func() error { // so that no repair is due
		_, err := w.function.Invoke(t.Context(), []byte(scheduled))
		return err
	})
	random := rand.New(rand.NewPCG(seed, seed))
	m, one := mappingOf(random, seed), []int{0, 5, 10}[random.IntN(3)]
	var mu sync.Mutex // of random, and below
	faults := one > 0 // one batch in so many has them
	var lost [][]byte
	var fed atomic.Int64
	m.Invoke, m.Pause = w.function.Invoke, 20*time.Millisecond
	m.OnFailure = func(message []byte) {
		mu.Lock()
		defer mu.Unlock()
		lost = append(lost, message)
	}
	m.Faulty = func(batch []lambdatest.Record) (sent []lambdatest.Record, again bool) {
		mu.Lock()
		defer mu.Unlock()
		if !faults {
			return batch, false
		}
		end := []func(int) bool{w.function.Kill, w.function.Stop}
		switch roll := random.IntN(3 * one); roll {
		case 0, 1:
			time.AfterFunc(time.Duration(random.IntN(100))*time.Millisecond, func() { end[roll](roll) })
		case 2:
			random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
		}
		return batch, random.IntN(one) == 0
	}
	ctx, stop := context.WithCancel(t.Context())
	m.Start(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { w.feed(ctx, t, m, 4, &fed) })
	defer func() {
		stop()
		m.Wait()
		reading.Wait()
	}()
	mu.Lock()
	threads, posts := 2+random.IntN(3), 1+random.IntN(10)
	mu.Unlock()
	unreadable, closed := w.write(t, threads, posts, func() bool { return true })
	done := func() error {
		if n := m.Waiting(); n > 0 {
			return fmt.Errorf("%d records are not done", n)
		}
		return w.complete(t, fed.Load())
	}
	testenv.Eventually(t, soon, done)
	mu.Lock()
	faults = false
	mu.Unlock()
	testenv.Eventually(t, soon, func() error {
		mu.Lock()
		messages := lost
		lost = nil
		mu.Unlock()
		for _, message := range messages {
			if _, err := w.function.Invoke(ctx, lambdatest.FromQueue(message)); err != nil {
				m.OnFailure(message) // a fault from before has killed it
				return err
			}
		}
		_, err := w.function.Invoke(ctx, []byte(scheduled))
		return errors.Join(err, w.settled(t, closed), done())
	})
	compareRows(t, w.db, w.gateway, w.keys, map[es.AggregateID]uint64{unreadable: 1})
	t.Logf("%d environments were started", len(w.function.Cold))
}

// write writes threads with posts, until it is enough, of which some members' accounts are closed meanwhile, and one
// that can't be read.
func (w *world) write(t *testing.T, threads, posts int, enough func() bool) (unreadable es.AggregateID, closed int) {
	t.Helper()
	admin := kit.NewID[ident.UserAccount]()
	leaving := []ident.UserID{kit.NewID[ident.UserAccount](), kit.NewID[ident.UserAccount](), kit.NewID[ident.UserAccount]()}
	for _, user := range leaving {
		w.account(t, user, account.Register{Name: writing.RecordedName("x")})
	}
	unreadable = w.writeUnreadable(t)
	for i := 0; i < threads || !enough(); i++ {
		id := w.posts(t, admin, posts)
		if i < 2*len(leaving) {
			w.on(t, id, admin, thread.AddMember{Executor: admin, User: leaving[i%len(leaving)], Role: thread.RoleMember})
		}
		if i == threads/2 {
			for _, user := range leaving {
				w.account(t, user, account.Close{})
			}
		}
	}
	return unreadable, len(leaving)
}

// posts writes a thread with so many posts. Those that meet share a transaction.
func (w *world) posts(t *testing.T, admin ident.UserID, posts int) thread.ID {
	t.Helper()
	id := chat.ThreadID(w.on(t, thread.ID{}, admin, thread.Create{Executor: admin, Name: writing.RecordedName("tea")}))
	var posting sync.WaitGroup
	for i := range posts {
		posting.Go(func() {
			w.on(t, id, admin, thread.PostMessage{Executor: admin, Text: thread.RecordedText(fmt.Sprint("cup ", i))})
		})
	}
	posting.Wait()
	return id
}

// settled returns nil once no account that is closed is in a thread, neither in the rows nor on the way.
func (w *world) settled(t *testing.T, closed int) error {
	t.Helper()
	var members, accounts, commands int
	err := w.db.QueryRowContext(t.Context(), `SELECT
		(SELECT COUNT(*) FROM members JOIN accounts ON accounts.id = user_account_id WHERE closed AND NOT removed),
		(SELECT COUNT(*) FROM accounts WHERE closed), (SELECT COUNT(*) FROM process_commands)`).Scan(&members, &accounts, &commands)
	if err == nil && (members > 0 || accounts < closed || commands > 0) {
		err = fmt.Errorf("%d accounts of %d are closed; %d are still members, %d commands are due", accounts, closed, members, commands)
	}
	return err
}

// complete returns nil once so many records are all events.
func (w *world) complete(t *testing.T, fed int64) error {
	t.Helper()
	var written int64
	for key := range w.keys {
		head, err := w.gateway.Head(t.Context(), key)
		if err != nil {
			return err
		}
		written += int64(head.Version)
	}
	if fed < written {
		return fmt.Errorf("the stream has shown %d of %d events", fed, written)
	}
	return nil
}

// A database that does not answer must not take the time of the answer, which names what is left. What was done before
// is not delivered again.
func TestTimeIsOver(t *testing.T) {
	w := newWorld(t, 8*time.Second, 1).migrate(t)
	admin := kit.NewID[ident.UserAccount]()
	w.posts(t, admin, pieceSize)
	w.posts(t, admin, 5)
	records := w.records(t, 1+pieceSize+1+5)
	key, err := keyOf(records[len(records)-1])
	if err != nil {
		t.Fatal(err)
	}
	// Another environment works on a thread of the second piece, and hangs.
	tx, err := w.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(),
		"INSERT INTO projection_positions (projection, tenant_code, aggregate_type, aggregate_id, version, parked) VALUES ('read-model', '', 'thread', ?, 0, 0)", key); err != nil {
		t.Fatal(err)
	}
	// The service kills an environment that has not answered in time.
	if first := w.invoke(t, lambdatest.EventOf(records)); first != records[pieceSize].Sequence {
		t.Errorf("it names %q, not %q", first, records[pieceSize].Sequence)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if first := w.invoke(t, lambdatest.EventOf(records[pieceSize:])); first != "" {
		t.Errorf("it names %q", first)
	}
	compareRows(t, w.db, w.gateway, w.keys, nil)
}

func keyOf(r lambdatest.Record) (string, error) {
	var content events.DynamoDBEventRecord
	err := json.Unmarshal(r.JSON, &content)
	_, id, found := strings.Cut(content.Change.NewImage["aid"].String(), "-")
	if err == nil && !found {
		err = errors.New("the record has no aid")
	}
	return id, err
}

// The database ends the connections of an environment that is frozen. It must work again at once, without a new start.
func TestAThawedEnvironment(t *testing.T) {
	w := newWorld(t, 5*time.Second, 1).migrate(t)
	admin := kit.NewID[ident.UserAccount]()
	key := w.on(t, thread.ID{}, admin, thread.Create{Executor: admin, Name: writing.RecordedName("tea")})
	w.on(t, chat.ThreadID(key), admin, thread.PostMessage{Executor: admin, Text: thread.RecordedText("cup")})
	w.db.SetMaxIdleConns(1)
	for _, record := range w.records(t, 2) {
		if first := w.invoke(t, lambdatest.EventOf([]lambdatest.Record{record})); first != "" {
			t.Fatalf("it names %q:\n%s", first, w.output.String())
		}
		testenv.Eventually(t, soon, func() error {
			var connections int
			err := w.db.GetContext(t.Context(), &connections, "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE db = DATABASE()")
			if err == nil && connections > 0 {
				err = fmt.Errorf("%d connections", connections)
			}
			return err
		})
	}
	compareRows(t, w.db, w.gateway, w.keys, nil)
	if starts := len(w.function.Cold); starts != 1 {
		t.Errorf("%d environments started", starts)
	}
}

// An environment that starts while the read model is not there must work once it is.
func TestADatabaseThatComesLater(t *testing.T) {
	w := newWorld(t, 5*time.Second, 1)
	admin := kit.NewID[ident.UserAccount]()
	w.on(t, thread.ID{}, admin, thread.Create{Executor: admin, Name: writing.RecordedName("tea")})
	event := lambdatest.EventOf(w.records(t, 1))
	if _, err := w.function.Invoke(t.Context(), event); err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("without tables: %v", err)
	}
	w.migrate(t)
	if first := w.invoke(t, event); first != "" {
		t.Errorf("it names %q", first)
	}
	compareRows(t, w.db, w.gateway, w.keys, nil)
	if starts := len(w.function.Cold); starts != 1 {
		t.Errorf("%d environments started", starts)
	}
}

// While the rows can't be written for long, Lambda gives records up, after its attempts or by their age, and tells a
// queue. Its messages make the function read the journal.
func TestWhatLambdaGivesUp(t *testing.T) {
	for condition, mapping := range map[string]*lambdatest.Mapping{
		"RetryAttemptsExhausted": {Retries: 1, Bisect: true, Factor: 2},
		"RecordAgeExceeded":      {Retries: -1, MaxAge: time.Second},
	} {
		t.Run(condition, func(t *testing.T) {
			w := newWorld(t, 5*time.Second, 1).migrate(t)
			w.invoke(t, []byte(scheduled)) // so that no repair is due
			admin := kit.NewID[ident.UserAccount]()
			w.posts(t, admin, 3)
			w.posts(t, admin, 3)
			rename := func(from, to string) {
				t.Helper()
				if _, err := w.db.ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var messages [][]byte
			mapping.Invoke, mapping.BatchSize, mapping.Pause = w.function.Invoke, 4, 300*time.Millisecond
			mapping.OnFailure = func(message []byte) {
				mu.Lock()
				defer mu.Unlock()
				messages = append(messages, message)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			mapping.Start(ctx)
			rename("messages", "away")
			for _, record := range w.records(t, 8) {
				mapping.Feed(record)
			}
			testenv.Eventually(t, soon, func() error {
				if n := mapping.Waiting(); n > 0 {
					return fmt.Errorf("%d records are neither done nor given up", n)
				}
				return nil
			})
			stop()
			mapping.Wait()
			rename("away", "messages")
			if len(messages) == 0 {
				t.Error("nothing was given up")
			}
			for _, message := range messages {
				if !strings.Contains(string(message), condition) {
					t.Errorf("the message is %s", message)
				}
				if first := w.invoke(t, lambdatest.FromQueue(message)); first != "" {
					t.Errorf("it names %q", first)
				}
			}
			compareRows(t, w.db, w.gateway, w.keys, nil)
		})
	}
}
