package sqlstore_test

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/projection"
	"example.com/threads/es/sqlstore"
)

// BenchmarkVisible measures the time from a post's acknowledgement until it is in the read model, in one process on
// SQLite. Each of eight clients posts again when it has seen its last post.
func BenchmarkVisible(b *testing.B) {
	folder := b.TempDir()
	s := newSystem(b, "sqlite:"+filepath.Join(folder, "events.db"), "sqlite:"+filepath.Join(folder, "rows.db"))
	rows := &watch{at: map[projection.AtVersion]time.Time{}}
	rows.changed.L = &rows.mutex
	projector := projection.New(s.readModel, s.gateway, projection.Options{Notify: rows.notify}, notebook.Positions{})
	source := s.source(b, projector, sqlstore.SourceSettings{})
	runSource(b, source)

	waits := make([]time.Duration, b.N)
	var next atomic.Int64
	var posting sync.WaitGroup
	b.ResetTimer()
	for range 8 {
		posting.Go(func() {
			key := s.create(b, "")
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				version := s.post(b, key, "hello").Version
				answered := time.Now()
				waits[i] = max(0, rows.wait(projection.AtVersion{Key: key, Version: version}).Sub(answered))
			}
		})
	}
	posting.Wait()
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
}

// watch records when the position of an aggregate reaches a version.
type watch struct {
	mutex   sync.Mutex
	changed sync.Cond
	at      map[projection.AtVersion]time.Time
}

func (w *watch) notify(heads []projection.AtVersion) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, head := range heads {
		w.at[head] = time.Now()
	}
	w.changed.Broadcast()
}

func (w *watch) wait(head projection.AtVersion) time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for {
		if at, found := w.at[head]; found {
			delete(w.at, head)
			return at
		}
		w.changed.Wait()
	}
}
