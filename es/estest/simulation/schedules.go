package simulation

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// Consumer is one more consumer of the stream, which runs beside the rows. The world calls one method at a time.
type Consumer interface {
	// Name is that of its projection.
	Name() string
	// Open returns the store and the handler of a projector of these events in a new life of the process. The store has
	// its positions in positions. Whatever else it asks or tells somebody is an I/O: see [Process.Do].
	Open(p *Process, events es.AnyAggregate, positions projection.Store) (projection.Store, projection.Handler)
	// Faults are the kinds of faults that it has besides those of the world.
	Faults() []string
	// Meet makes one of them happen, now or to a later I/O.
	Meet(fault string)
	// Check looks at the stored positions and the parked aggregates after each change of them.
	Check(positions map[es.AggregateID]uint64, parked []projection.DeadLetter) error
}

// runner runs schedules, one after the other.
type runner struct {
	t        *testing.T
	url      string          // of the database of the rows
	consumer func() Consumer // nil: none
}

func newRunner(t *testing.T, consumer func() Consumer) runner {
	t.Helper()
	r := runner{t, "sqlite:" + filepath.Join(t.TempDir(), "rows.db"), consumer}
	db := r.open(t)
	_, err := migration.Up(t.Context(), db, rowstore.Schema())
	if err := cmp.Or(err, pursesRows.Create(t.Context(), db), db.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r runner) open(t *testing.T) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), r.url, database.Settings{Rebuildable: true, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// schedule is what happens in a world beside the steps that its seed selects.
type schedule struct {
	Faults  []fault
	Without []string // commands that no client sends, by [refOf]
}

// run runs the schedule of a seed, and returns the story and what is broken, if anything.
func (r runner) run(seed uint64, all schedule) (story []string, failure string) {
	testenv.Bubble(r.t, func(t *testing.T) {
		db := r.open(t) // here, because its own goroutine may hand over a connection
		clean(t, db)
		cryptotest.SetGlobalRandom(t, seed) // ids of events are part of the order of the outbox
		s := &simulation{
			world: &world{db: db, random: rand.New(rand.NewPCG(seed, 1)), faults: map[int]string{}, full: map[string]int{}, throttled: map[string]int{}, live: map[string]*Process{}},
			t:     t, seed: seed, store: newStore(), services: map[string]*es.Service[purse, change, changed]{},
			truth: map[string][]row{}, parts: map[string]int{}, places: map[string][]string{}, labels: map[string]string{},
			given: map[string]change{}, acked: map[string]string{}, versions: map[es.AggregateID]uint64{},
		}
		for _, one := range all.Faults {
			s.faults[one.At] = one.Kind
		}
		for _, id := range purseIDs {
			s.truth[id] = []row{{}}
		}
		if r.consumer != nil {
			s.consumer = r.consumer()
		}
		s.stream = newStream(rand.New(rand.NewPCG(seed, 2)))
		s.store.committed, s.start, s.world.changed = s.committed, s.begin, s.changed
		for _, kind := range []string{"writer-0", "writer-1", "updater", "reader"} {
			s.begin(kind, 1)
		}
		if random := rand.New(rand.NewPCG(seed, 4)); random.IntN(2) == 0 {
			s.rebuildAt = random.IntN(300)
			s.begin("operator", 1)
		}
		s.working.Store(clients)
		for number := range clients {
			p := s.newProc("client", number)
			s.procs, s.last = append(s.procs, p), p
			go s.client(p, number, all.Without)
		}
		s.advance(s.settled, mostStep)
		if s.failure == "" {
			s.check()
		}
		s.start = nil
		for _, p := range s.procs {
			s.kill(p)
		}
		<-time.After(time.Hour) // until everything has ended
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		story, failure = s.story, s.failure
	})
	return story, failure
}

// scheduleOf returns the schedule of a seed.
func (r runner) scheduleOf(seed uint64) schedule {
	var faults []fault
	random, kinds := rand.New(rand.NewPCG(seed, 3)), kinds
	if r.consumer != nil {
		kinds = slices.Concat(kinds, r.consumer().Faults())
	}
	for range random.IntN(12) {
		faults = append(faults, fault{random.IntN(mostIOs), kinds[random.IntN(len(kinds))]})
	}
	slices.SortFunc(faults, func(a, b fault) int { return a.At - b.At })
	return schedule{Faults: faults}
}

// reduce leaves out commands and faults one by one, as long as the schedule still fails.
func (r runner) reduce(seed uint64, all schedule) schedule {
	try := func(less schedule) {
		if _, failure := r.run(seed, less); failure != "" {
			all = less
		}
	}
	for n := range clients * commands {
		try(schedule{all.Faults, append(slices.Clone(all.Without), refOf(n/commands, n%commands))})
	}
	for i := len(all.Faults) - 1; i >= 0; i-- {
		try(schedule{slices.Delete(slices.Clone(all.Faults), i, i+1), all.Without})
	}
	return all
}

// clean empties the tables.
func clean(t *testing.T, db *sqlx.DB) {
	t.Helper()
	var statements []string
	for _, table := range []string{"purses", "process_commands", "projection_positions", "checkpoints", "projection_types", "dead_letters", "row_sets", "projection_rebuilds"} {
		statements = append(statements, "DELETE FROM "+table)
	}
	for _, table := range []string{"purses", "row_sets"} {
		statements = append(statements, "DROP TABLE IF EXISTS "+table+"_old", "DROP TABLE IF EXISTS "+table+"_next")
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s must be a number: %v", name, err)
	}
	return value
}

// fewer returns the number of schedules, and with the race detector, which makes each slower, a fifth.
func fewer(schedules uint64) uint64 {
	info, _ := debug.ReadBuildInfo()
	for _, setting := range info.Settings {
		if setting.Key == "-race" && setting.Value == "true" {
			return schedules / 5
		}
	}
	return schedules
}

// Schedules runs schedules with all kinds of faults, and with a consumer unless that is nil: as many as SCHEDULES
// says, or else a few. SEED runs one of them alone, SCHEDULE (JSON) with other faults and fewer commands. The folder
// is that of the test, from the root.
func Schedules(t *testing.T, folder string, few uint64, consumer func() Consumer) {
	r := newRunner(t, consumer)
	if os.Getenv("SEED") != "" {
		seed := number(t, "SEED", 0)
		all := r.scheduleOf(seed)
		if text := os.Getenv("SCHEDULE"); text != "" {
			all = schedule{}
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				t.Fatal(err)
			}
		}
		story, failure := r.run(seed, all)
		t.Logf("\n%s", strings.Join(story, "\n"))
		if failure != "" {
			t.Error(failure)
		}
		return
	}
	first := number(t, "FIRST", 1)
	for seed := first; seed < first+number(t, "SCHEDULES", fewer(few)); seed++ {
		if _, failure := r.run(seed, r.scheduleOf(seed)); failure != "" {
			less := r.reduce(seed, r.scheduleOf(seed))
			story, failure := r.run(seed, less)
			text, _ := json.Marshal(less)
			t.Fatalf("seed %d: %s\n%s\nAlone again: make simulate OF=%s SEED=%d SCHEDULE='%s'", seed, failure, strings.Join(story, "\n"), folder, seed, text)
		}
	}
}

// OneStory checks that the same seed gives the same story, to the letter.
func OneStory(t *testing.T, consumer func() Consumer) {
	r := newRunner(t, consumer)
	for seed := uint64(1); seed <= number(t, "TWICE", fewer(20)); seed++ {
		var stories [2][]string
		for i := range stories {
			stories[i], _ = r.run(seed, r.scheduleOf(seed))
		}
		if !slices.Equal(stories[0], stories[1]) {
			at := 0
			for at < min(len(stories[0]), len(stories[1])) && stories[0][at] == stories[1][at] {
				at++
			}
			t.Errorf("seed %d tells two stories; from line %d:\n%s\n---\n%s", seed, at, part(stories[0], at), part(stories[1], at))
		}
	}
}

func part(story []string, from int) string {
	return strings.Join(story[max(0, from-5):min(from+3, len(story))], "\n")
}
