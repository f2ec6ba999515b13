package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

const (
	clients  = 3
	commands = 8 // of each client
	executor = "01H42KBHCW1BZG504J4ZXKA2F2"
	mostIOs  = 400 // that faults are spread over
	mostStep = 8000
)

// purseIDs are the aggregates, by the names in stories.
var purseIDs = []string{"01H42KBHCW1BZG504J4ZXKA2FA", "01H42KBHCW1BZG504J4ZXKA2FB", "01H42KBHCW1BZG504J4ZXKA2FC"}

var purseKeys = []es.AggregateID{purseKey(purseIDs[0]), purseKey(purseIDs[1]), purseKey(purseIDs[2])}

func purseKey(id string) es.AggregateID { return es.AggregateID{Type: codec.Type(), ID: id} }

func nameOf(key es.AggregateID) string { return key.ID[len(key.ID)-1:] }

// simulation is a world with its processes, and what must be true in it.
type simulation struct {
	*world
	t     *testing.T
	seed  uint64
	store *store

	procs     []*Process
	services  map[string]*es.Service[purse, change, changed]
	watcher   *projection.Watcher
	working   atomic.Int32 // clients
	rebuildAt int          // the step from which on an operator rebuilds the rows
	asked     bool
	answered  atomic.Bool // the last reader
	last      *Process

	truth    map[string][]row // by aggregate: the fold at version 0, 1, 2 ...
	parts    map[string]int   // events that a command leads to, by Ref
	places   map[string][]string
	labels   map[string]string // places by event id
	given    map[string]change // gifts by the Ref of the command that they lead to
	acked    map[string]string // the place of the last event, by Ref
	versions map[es.AggregateID]uint64
}

func place(id string, seqNr int) string { return nameOf(purseKey(id)) + "#" + strconv.Itoa(seqNr) }

// committed checks each write against everything before it.
func (s *simulation) committed(key es.AggregateID, entries []es.Entry) {
	s.stream.add(key, entries)
	for _, entry := range entries {
		recorded, err := codec.Decode(entry.Payload)
		if err != nil {
			s.fail("an event can't be read: %v", err)
			return
		}
		e, known := recorded.Event, s.truth[key.ID]
		next := fold(known[len(known)-1], e)
		at := place(key.ID, len(known))
		if next.Amount < 0 || next.Amount != e.Amount || next.Events != e.Events || int(entry.SeqNr) != len(known) {
			s.fail("event %s was not decided on the state before it: %+v is followed by %+v", at, known[len(known)-1], e)
		}
		s.truth[key.ID], s.labels[entry.EventID] = append(known, next), at
		s.places[e.Ref] = append(s.places[e.Ref], at)
		if len(s.places[e.Ref]) > s.parts[e.Ref] {
			s.fail("the command %s was applied more than once: %v", e.Ref, s.places[e.Ref])
		}
		if e.To != "" {
			ref := "gift of " + at
			s.given[ref], s.parts[ref] = change{By: -e.By, Parts: 1, Ref: ref, To: e.To}, 1
		}
	}
}

// begin starts a life of a process.
func (s *simulation) begin(kind string, life int) {
	p := s.newProc(kind, life)
	s.procs = append(s.procs, p)
	events := gateway{s.store, p, nil}
	settings := es.Settings{Timeout: time.Minute, Clock: p.now, SnapshotEvery: 4, Logger: slog.New(slog.DiscardHandler)}
	switch kind {
	case "updater":
		go s.update(p, es.NewService(purses, events, settings))
	case "operator":
		go s.rebuild(p)
	case "reader":
		read := rows{s.rowstore(pursesRows.Table), p, pursesRows.Table}
		s.watcher = projection.NewWatcher(read.Versions, settings.Logger)
		go s.watcher.Run(p.ctx)
	default:
		s.services[kind] = es.NewService(purses, events, settings)
	}
}

// update takes the turn to write the rows, and then runs the projection, the process manager and the consumer.
func (s *simulation) update(p *Process, service *es.Service[purse, change, changed]) {
	var term uint64
	for err := errors.New("no turn"); err != nil; {
		err = p.Do(p.ctx, turn, "takes the turn", s.free, func() error {
			return s.db.GetContext(context.Background(), &term, "UPDATE projection_turn SET term = term + 1 RETURNING term")
		})
		if p.ctx.Err() != nil {
			return
		}
	}
	outbox := process.New(s.db, s.rowstore("gifts"), "gifts", slog.New(slog.DiscardHandler))
	ofPurses, ofGifts := rows{s.rowstore(pursesRows.Table).InTerm(term), p, pursesRows.Table}, rows{s.rowstore("gifts").InTerm(term), p, "gifts"}
	s.project(ofPurses, ofPurses, pursesOf(s.world), func(changed []projection.AtVersion) {
		for _, head := range changed {
			s.checkRow(head.Key, head.Version)
		}
	})
	s.project(ofGifts, ofGifts, gifts{outbox}, nil)
	if s.consumer != nil {
		// In no term, as on Lambda: a process that has lost its turn goes on writing until it learns that.
		in := rows{s.rowstore(s.consumer.Name()), p, s.consumer.Name()}
		store, handler := s.consumer.Open(p, purses, in)
		s.project(in, store, handler, nil)
	}
	s.send(p, outbox, service)
}

// projections are the names of the projections, that of the rows first.
func (s *simulation) projections() []string {
	names := []string{pursesRows.Table, "gifts"}
	if s.consumer != nil {
		names = append(names, s.consumer.Name())
	}
	return names
}

func (s *simulation) rowstore(name string) *rowstore.Store {
	store, err := rowstore.New(s.db, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// project runs a projection in a store that has its positions in these rows.
func (s *simulation) project(in rows, store projection.Store, handler projection.Handler, notify func([]projection.AtVersion)) {
	p, name := in.p, in.name
	options := projection.Options{Logger: slog.New(slog.DiscardHandler), Notify: notify, Attempts: 3, FillEvents: 2, Now: func() time.Time {
		return p.now().Add(p.w.elapsed() * (coarseBy - 1)) // a jump of the clock is not multiplied
	}}
	projector := projection.New(store, gateway{s.store, p, nil}, options, handler)
	go projector.Run(as(p.ctx, name+" run"))
	termless := s.consumer != nil && name == s.consumer.Name()
	go source{s.stream, p, projector, in, termless}.run(as(p.ctx, name+" source"))
}

// rebuild makes the rows anew beside the live ones, and switches to them. A later life finishes what it finds begun.
func (s *simulation) rebuild(p *Process) {
	var phase atomic.Value // the last that was told
	// After an I/O it may use the only connection, for which nobody must have to wait: who gets it then is random.
	events := gateway{s.store, p, func() bool { return s.changing == 0 }}
	rebuild := &rowstore.Rebuild{
		Logger: slog.New(slog.DiscardHandler),
		Store:  s.rowstore(pursesRows.Table), Tables: []string{pursesRows.Table},
		Journal: events, Handlers: []projection.Handler{pursesOf(s.world)},
		Observe: func(state rowstore.RebuildState) {
			if phase.Swap(state.Phase) != state.Phase {
				_ = p.Do(p.ctx, table, "rebuilds: "+state.Phase, s.free, func() error { return nil })
			}
		},
	}
	goOn := rebuild.Start
	if p.life > 1 {
		goOn = rebuild.Resume
	}
	for {
		due := func() bool { return s.steps > s.rebuildAt && s.free() }
		if _, ok := p.step(p.ctx, "", "rebuilds", due); !ok {
			return
		}
		err := goOn(p.ctx)
		if err == nil || errors.Is(err, rowstore.ErrNothingBegun) {
			return
		}
		why, _, _ := strings.Cut(err.Error(), ":") // the rest differs: which of several aggregates it names
		s.tell(p.String(), "stops the rebuild: "+why)
		goOn = rebuild.Resume
		_ = es.Wait(p.ctx, time.Second)
	}
}

// send has the outbox send what is due.
func (s *simulation) send(p *Process, outbox *process.Outbox, service *es.Service[purse, change, changed]) {
	look := func(of Party, what string) error {
		return p.Do(p.ctx, of, what, s.free, func() error { return nil })
	}
	for p.ctx.Err() == nil {
		if look(turn, "looks into the outbox") == nil {
			// All are due: what is due otherwise depends on the random parts of pauses.
			if _, err := s.db.ExecContext(context.Background(), "UPDATE process_commands SET due_at = 0"); err != nil {
				s.fail("the outbox can't be changed: %v", err)
			}
			_, _ = outbox.SendDue(p.ctx, func(ctx context.Context, caller es.Caller, key string, c process.Command) error {
				ref := "gift of " + s.labels[c.EventID]
				if err := look(target, "sends the "+ref); err != nil {
					return err
				}
				by, _ := strconv.Atoi(c.Name)
				command := change{By: by, Parts: 1, Ref: ref}
				_, err := service.Handle(ctx, es.Request[change]{
					Caller: caller, ID: c.Target.ID, Command: command, Name: "put", Content: ref, IdempotencyKey: key,
				})
				if lost := look(target, "gets the answer to the "+ref); lost != nil {
					return lost
				}
				return err
			})
		}
		_ = es.Wait(p.ctx, time.Second)
	}
}

// checkRow reads the row of an aggregate: it must be the fold of its events, and not before atLeast.
func (s *simulation) checkRow(key es.AggregateID, atLeast uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	got, version, err := pursesRows.Read(ctx, s.db, key, 0)
	truth := s.truth[key.ID]
	switch {
	case err != nil:
		s.fail("the row of %s can't be read: %v", nameOf(key), err)
	case version < atLeast:
		s.fail("the row of %s is at version %d, not %d", nameOf(key), version, atLeast)
	case version < s.versions[key]:
		s.fail("the row of %s went back from version %d to %d", nameOf(key), s.versions[key], version)
	case int(version) >= len(truth):
		s.fail("the row of %s is at version %d, beyond the journal", nameOf(key), version)
	case got.Amount != truth[version].Amount || got.Events != truth[version].Events || !slices.Equal(got.Refs, truth[version].Refs):
		s.fail("the row of %s at version %d is %+v, not %+v", nameOf(key), version, got, truth[version])
	}
	s.versions[key] = max(s.versions[key], version)
}

// changed looks at the rows after a commit: what is before a checkpoint is in the rows, or parked, or owed to a repair,
// such as the one that ends a rebuild.
func (s *simulation) changed(in rows) {
	ctx := context.Background()
	checkpoints, err := in.Store.Checkpoints(ctx, "stream")
	reached, err2 := in.Store.Versions(ctx, purseKeys)
	letters, err3 := in.Store.Parked(ctx, epoch.AddDate(9, 0, 0), es.AggregateID{}, len(purseIDs))
	types, err4 := in.Store.Types(ctx)
	rebuild, err5 := in.RebuildState(ctx)
	if err := cmp.Or(err, err2, err3, err4, err5); err != nil {
		s.fail("the positions of %s can't be read: %v", in.name, err)
		return
	}
	if s.consumer != nil && in.name == s.consumer.Name() {
		if err := s.consumer.Check(reached, letters); err != nil {
			s.fail("%v", err)
		}
	}
	if repairOwed(types) || rebuild.Live && !rebuild.Over() {
		return
	}
	for _, letter := range letters {
		reached[letter.Key] = math.MaxUint64
	}
	for _, at := range checkpoints {
		for _, record := range s.stream.before(at) {
			if record.SeqNr > reached[record.Key] {
				s.fail("%s passed event %d of %s at %s of %s, but is at version %d of it", in.name, record.SeqNr, nameOf(record.Key), at.Position, at.Shard, reached[record.Key])
			}
		}
	}
}

func repairOwed(types []projection.Type) bool {
	return slices.ContainsFunc(types, func(one projection.Type) bool { return !one.Complete })
}

func refOf(client, number int) string { return fmt.Sprintf("%d-%d", client, number) }

// client sends commands until each has an answer.
func (s *simulation) client(p *Process, number int, without []string) {
	defer s.working.Add(-1)
	for n := range commands {
		ref := refOf(number, n)
		if slices.Contains(without, ref) {
			continue
		}
		random := rand.New(rand.NewPCG(s.seed, uint64(100*number+n)))
		if _, ok := p.step(p.ctx, "", "thinks", nil); !ok {
			return
		}
		c := change{By: 1 + random.IntN(5), Parts: 1 + random.IntN(2), Ref: ref}
		id := random.IntN(len(purseIDs))
		switch random.IntN(3) {
		case 1:
			c.By = -c.By
		case 2:
			c.By, c.To = -c.By, purseIDs[(id+1)%len(purseIDs)]
		}
		s.parts[c.Ref] = c.Parts
		if !s.command(p, random, purseIDs[id], c) {
			return
		}
		if random.IntN(3) == 0 && !s.read(p, purseKey(purseIDs[id])) {
			return
		}
	}
}

// command sends a command until it is decided, or only once if it has no key. false: the simulation ends.
func (s *simulation) command(p *Process, random *rand.Rand, id string, c change) bool {
	request := es.Request[change]{
		Caller: es.Caller{Executor: executor}, ID: id, Command: c, Name: "change", Content: c.Ref, IdempotencyKey: c.Ref,
	}
	if random.IntN(8) == 0 {
		request.IdempotencyKey = ""
	}
	before := len(s.truth[id]) - 1
	for attempt := 0; ; attempt++ {
		writer := fmt.Sprint("writer-", random.IntN(2))
		s.tell(p.String(), fmt.Sprintf("asks %s: change %s by %d times %d, command %s", writer, nameOf(purseKey(id)), c.Parts, c.By, c.Ref))
		result, err := s.services[writer].Handle(as(p.ctx, p.String()), request)
		fault, ok := p.step(p.ctx, "", "hears of "+c.Ref, nil)
		if !ok {
			return false
		}
		if fault == unheard {
			s.tell(p.String(), "<-- FAULT: it does not get the answer to "+c.Ref)
			err = es.ErrUnavailable
		}
		places := s.places[c.Ref]
		switch {
		case err == nil:
			s.tell(p.String(), fmt.Sprintf("is told that %s is done at version %d", c.Ref, result.Version))
			s.acked[c.Ref] = place(id, int(result.Version))
			if len(places) != c.Parts || places[len(places)-1] != s.acked[c.Ref] {
				s.fail("the command %s was acknowledged at %s, but the journal has it at %v", c.Ref, s.acked[c.Ref], places)
			}
			return true
		case errors.Is(err, errTooLittle):
			s.tell(p.String(), "is told that there is too little for "+c.Ref)
			right := false
			for _, state := range s.truth[id][before:] {
				right = right || state.Amount+c.Parts*c.By < 0
			}
			if !right || len(places) > 0 {
				s.fail("the command %s was rejected although the purse had enough, or it was done before: %v", c.Ref, places)
			}
			return true
		case es.KindOf(err) != es.Unavailable && es.KindOf(err) != es.Canceled && !errors.Is(err, es.ErrConcurrentUpdate):
			s.fail("the command %s failed: %v", c.Ref, err)
			return false
		}
		s.tell(p.String(), "does not know what became of "+c.Ref)
		if request.IdempotencyKey == "" && !errors.Is(err, es.ErrConcurrentUpdate) {
			return true
		}
		if attempt%4 == 3 {
			_ = es.Wait(p.ctx, time.Second)
			if _, ok := p.step(p.ctx, "", "asks again", nil); !ok { // others' pauses end in the same tick
				return false
			}
		}
	}
}

// read reads a row that must have what the client knows of. false: the simulation ends.
func (s *simulation) read(p *Process, key es.AggregateID) bool {
	token := uint64(len(s.truth[key.ID]) - 1)
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	err := s.watcher.Await(ctx, map[es.AggregateID]uint64{key: token})
	cancel()
	if _, ok := p.step(p.ctx, "", "reads a row", s.free); !ok {
		return false
	}
	if err == nil {
		s.tell(p.String(), fmt.Sprintf("reads %s at version %d or later", nameOf(key), token))
		s.checkRow(key, token)
	}
	return true
}

// settled reports whether the clients are done, and everything has followed. From then on there are no faults.
func (s *simulation) settled() bool {
	// A consumer has most of its work when the clients are done.
	if s.working.Load() > 0 || !s.free() || s.consumer != nil && s.ios < mostIOs {
		return false
	}
	s.calm = true
	s.catchUp()
	s.stream.flush()
	s.missing = ""
	for _, id := range purseIDs {
		s.checkRow(purseKey(id), 0)
		if version := s.versions[purseKey(id)]; uint64(len(s.truth[id])-1) != version {
			s.missing = fmt.Sprintf("the row of %s is at version %d of %d", nameOf(purseKey(id)), version, len(s.truth[id])-1)
		}
	}
	for ref := range s.given {
		if len(s.places[ref]) == 0 {
			s.missing = "nobody put the " + ref
		}
	}
	waiting, _, err := process.New(s.db, s.rowstore("gifts"), "gifts", slog.New(slog.DiscardHandler)).Count(context.Background())
	if err != nil || waiting > 0 {
		s.missing = fmt.Sprintf("%d commands wait in the outbox, %v", waiting, err)
	}
	for _, name := range s.projections() {
		if parked, err := s.rowstore(name).CountParked(context.Background()); err != nil || parked > 0 {
			s.missing = fmt.Sprintf("%d aggregates of %s are parked, %v", parked, name, err)
		}
		types, err := s.rowstore(name).Types(context.Background())
		if err != nil || repairOwed(types) {
			s.missing = fmt.Sprintf("%s wait for a repair, %v", name, err)
		}
		reached, err := s.rowstore(name).Versions(context.Background(), purseKeys)
		for _, key := range purseKeys {
			if version := uint64(len(s.truth[key.ID]) - 1); err != nil || reached[key] < version {
				s.missing = fmt.Sprintf("%s are at version %d of %d of %s, %v", name, reached[key], version, nameOf(key), err)
			}
		}
	}
	if state, err := s.rowstore(pursesRows.Table).RebuildState(context.Background()); err != nil || !state.Over() {
		s.missing = fmt.Sprintf("the rebuild is not over, but %s, %v", state.Phase, err)
	}
	if s.missing == "" && !s.answered.Load() {
		s.missing = "nobody is told that the rows have the last versions"
		if !s.asked {
			s.asked = true
			go s.await()
		}
	}
	return s.missing == ""
}

// await waits as a reader does for the versions that the rows have now.
func (s *simulation) await() {
	least := map[es.AggregateID]uint64{}
	for _, id := range purseIDs {
		least[purseKey(id)] = uint64(len(s.truth[id]) - 1)
	}
	for s.last.ctx.Err() == nil && !s.answered.Load() {
		s.answered.Store(s.watcher.Await(s.last.ctx, least) == nil)
	}
}

// check looks at what must be true in the end.
func (s *simulation) check() {
	for ref, at := range s.acked {
		if places := s.places[ref]; len(places) != s.parts[ref] || places[len(places)-1] != at {
			s.fail("the command %s was acknowledged at %s, but the journal has it at %v", ref, at, places)
		}
	}
	for _, id := range purseIDs {
		s.checkRow(purseKey(id), uint64(len(s.truth[id])-1))
		head, err := s.store.Head(context.Background(), purseKey(id))
		if err != nil || int(head.Version) != len(s.truth[id])-1 {
			s.fail("the head of %s is %+v, %v", nameOf(purseKey(id)), head, err)
		}
	}
}
