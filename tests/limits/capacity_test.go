package limits

import (
	"context"
	"iter"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
)

// A write-api of 256 MiB keeps the states of 800 threads with 1,000 messages each, so that no command has to load one,
// and has memory left for its work.
func TestEightHundredThousandMessagesFitInto256MiB(t *testing.T) {
	const mayUse = 256 << 20 * 65 / 100 // see memlimit.Manage
	before := debug.SetMemoryLimit(mayUse)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	gateway := &manyThreads{count: 800, state: withMessages(1000), head: es.Head{Version: 1001, SnapshotVersion: 1001}}
	metrics := es.NewMetrics()
	settings := es.Settings{SnapshotEvery: 100, Logger: slog.New(slog.DiscardHandler), Metrics: metrics}
	made := commands.New(gateway, nil, commands.Settings{}, settings)
	empty := heap()
	at := slices.IndexFunc(made.Services, func(s commands.Service) bool { return s.Type() == thread.AggregateType })
	threads := made.Services[at].(*es.Service[thread.Thread, thread.Command, thread.Event])
	for i := range 2 * gateway.count {
		if _, err := threads.Load(t.Context(), threadKey(i%gateway.count)); err != nil {
			t.Fatal(err)
		}
	}
	used := heap() - empty
	runtime.KeepAlive(threads)
	if gateway.loads != gateway.count {
		t.Errorf("%d states were read for %d threads", gateway.loads, gateway.count)
	}
	states, bytes := gauge(t, metrics, "state_cache_entries"), uint64(gauge(t, metrics, "state_cache_bytes"))
	if int(states) != gateway.count || used > bytes || used > mayUse*2/3 {
		t.Errorf("%.0f states take %d bytes of memory; they are counted as %d, and %d is all there is", states, used, bytes, mayUse)
	}
}

// gauge returns the sum of a metric over all aggregate types.
func gauge(t *testing.T, metrics *es.Metrics, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if family.GetName() == name {
				sum += series.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// withMessages returns a thread with so many messages; its version is one more.
func withMessages(count int) (state thread.Thread) {
	random := rand.NewChaCha8([32]byte{})
	next := func() (at time.Time, entropy [10]byte) {
		_, _ = random.Read(entropy[:])
		return time.UnixMilli(1), entropy
	}
	ada := ident.New[ident.UserAccount](next())
	state = state.Apply(thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: ident.New[thread.Member](next()), User: ada, Role: thread.RoleAdmin}}})
	for range count {
		message := thread.Message{ID: ident.New[thread.Message](next()), Sender: ada, Text: thread.RecordedText("hello")}
		state = state.Apply(thread.MessagePosted{Message: message})
	}
	return state
}

// heap returns the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// manyThreads is an event store that has a snapshot of each thread.
type manyThreads struct {
	es.Store
	count, loads int
	state        thread.Thread
	head         es.Head
}

func threadKey(i int) es.AggregateID {
	return es.AggregateID{Type: thread.AggregateType, ID: ident.New[thread.Thread](time.UnixMilli(int64(1+i)), [10]byte{}).String()}
}

func (m *manyThreads) Head(context.Context, es.AggregateID) (es.Head, error) {
	return m.head, nil
}

func (m *manyThreads) Snapshots(_ context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	m.loads++
	payload, err := eventjson.Threads().Snapshots.Encode(id.ID, head.Version, m.state)
	return func(yield func(es.Snapshot, error) bool) {
		yield(es.Snapshot{Version: head.Version, Payload: payload}, err)
	}
}

func (m *manyThreads) Entries(context.Context, es.AggregateID, uint64, uint64) iter.Seq2[es.Entry, error] {
	return func(func(es.Entry, error) bool) {}
}

func (m *manyThreads) EntriesAt(ctx context.Context, id es.AggregateID, _ []uint64) iter.Seq2[es.Entry, error] {
	return m.Entries(ctx, id, 0, 0)
}
