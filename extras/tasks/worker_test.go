package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
)

// input returns n lines for three aggregates. Every tenth is rejected, and every hundredth is not JSON.
func input(n int) string {
	var lines strings.Builder
	for i := 1; i <= n; i++ {
		switch {
		case i%100 == 0:
			lines.WriteString("nonsense\n")
		case i%10 == 0:
			fmt.Fprintf(&lines, `{"path":"/say","body":{"key":"%d","text":"%d!"}}`+"\n", i%3, i)
		default:
			fmt.Fprintf(&lines, `{"path":"/say","body":{"key":"%d","text":"%d"}}`+"\n", i%3, i)
		}
	}
	return lines.String()
}

func TestAnImport(t *testing.T) { testenv.Bubble(t, testAnImport) }

func testAnImport(t *testing.T) {
	const lines = 1700
	w := newWorld()
	w.busy = 3
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(lines)))
	found, rejected := w.finish(t, created(t, result, err))
	if found.Status != task.Succeeded || found.Done != lines || found.Total != lines || found.Rejected != lines/10 || found.CreatedBy != ada {
		t.Errorf("got %+v", found.Row)
	}
	wantApplied(t, w, lines)
	wantRejected(t, rejected, lines)
}

// wantApplied checks that each accepted line was applied once, and the lines of an aggregate in their order.
func wantApplied(t *testing.T, w *world, lines int) {
	t.Helper()
	last, applied := map[string]int{}, 0
	for _, line := range w.order {
		var number int
		key, text, _ := strings.Cut(line, ":")
		_, _ = fmt.Sscan(text, &number)
		if number <= last[key] {
			t.Fatalf("line %d was applied after line %d", number, last[key])
		}
		last[key] = number
		applied++
	}
	if want := lines - lines/10; applied != want {
		t.Errorf("%d lines were applied, want %d", applied, want)
	}
}

func wantRejected(t *testing.T, result string, lines int) {
	t.Helper()
	number := 0
	for line := range strings.Lines(result) {
		number += 10
		var rejected struct {
			Line    int
			Request any
			Problem struct{ Code string }
		}
		if err := json.Unmarshal([]byte(line), &rejected); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		code := "rejected"
		if rejected.Request == "nonsense" {
			code = rest.Malformed
		}
		if rejected.Line != number || rejected.Problem.Code != code || (code == rest.Malformed) != (number%100 == 0) {
			t.Errorf("rejected line %d: %s", number, line)
		}
	}
	if number != lines {
		t.Errorf("the last rejected line is %d, want %d", number, lines)
	}
}

// A worker is killed at any point and followed by another one. Each accepted line must have one effect, and each
// rejected line must be in the result once.
func TestAnImportWhoseWorkersAreKilled(t *testing.T) {
	testenv.Bubble(t, testAnImportWhoseWorkersAreKilled)
}

func testAnImportWhoseWorkersAreKilled(t *testing.T) {
	const lines = 3600
	w := newWorld()
	w.waits = 10 * time.Millisecond // so that a part takes long enough to be reported
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(lines)))
	id := created(t, result, err)
	for kill := 1; kill <= 4; kill++ {
		ctx, killed := context.WithCancelCause(t.Context())
		parts := 0
		w.onResult = func() {
			if parts++; parts == kill { // after the lines of the part, before its result
				killed(errKilled)
			}
		}
		w.work(ctx, t, func() bool { return false })
		if !errors.Is(context.Cause(ctx), errKilled) {
			t.Fatalf("worker %d was not killed", kill)
		}
	}
	w.onResult = nil
	if before := w.find(t, id); before.Finished() || before.Done == 0 {
		t.Fatalf("after the kills: %+v", before.Row)
	}
	found, rejected := w.finish(t, id)
	if found.Status != task.Succeeded || found.Done != lines || found.Rejected != lines/10 {
		t.Errorf("got %+v", found.Row)
	}
	wantApplied(t, w, lines)
	wantRejected(t, rejected, lines)
	twice := 0
	for _, n := range w.applied {
		twice += n - 1
	}
	if twice == 0 {
		t.Error("no line was sent twice, so the kills have shown nothing")
	}
}

func TestACancelledImportStops(t *testing.T) { testenv.Bubble(t, testACancelledImportStops) }

func testACancelledImportStops(t *testing.T) {
	w := newWorld()
	w.waits = 20 * time.Millisecond // so that a part takes long enough to be reported
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(3000)))
	id := created(t, result, err)
	parts := 0
	w.onResult = func() {
		if parts++; parts == 2 {
			if err := w.send(t, id, task.Cancel{Executor: ada}); err != nil {
				t.Errorf("cancel: %v", err)
			}
		}
	}
	found, rejected := w.finish(t, id)
	if found.Status != task.Cancelled || found.Done == 0 || found.Done == 3000 || parts > 2 {
		t.Errorf("%d parts, %+v", parts, found.Row)
	}
	// Also those of the part that was not reported any more.
	handled := len(w.order) + strings.Count(rejected, "\n")
	if handled <= int(found.Done) {
		t.Fatalf("%d lines were handled: %+v", handled, found.Row)
	}
	wantApplied(t, w, handled)
	wantRejected(t, rejected, handled/10*10)
}

// A finished task is not looked at without a pause while its row is behind.
func TestRowsOfTasksThatAreBehind(t *testing.T) { testenv.Bubble(t, testRowsOfTasksThatAreBehind) }

func testRowsOfTasksThatAreBehind(t *testing.T) {
	w := newWorld()
	w.behind = true
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10)))
	id := created(t, result, err)
	looks, begun := 0, time.Now()
	w.work(t.Context(), t, func() bool { looks++; return time.Since(begun) > 10*time.Second || looks > 1000 })
	if found := w.find(t, id); !found.Finished() || looks > 100 { // two kinds of tasks, twice a second
		t.Errorf("%d looks: %+v", looks, found.Row)
	}
}

// The part in progress is completed and reported, so that no line is sent twice however long the suspension is.
func TestTasksOfASuspendedTenant(t *testing.T) { testenv.Bubble(t, testTasksOfASuspendedTenant) }

func testTasksOfASuspendedTenant(t *testing.T) {
	const lines = 3000
	w := newWorld()
	for i := range 3000 {
		w.events = append(w.events, fmt.Sprintf(`{"seq_nr":%d,"text":%q}`, i+1, strings.Repeat("x", 300)))
	}
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(lines)))
	importing := created(t, result, err)
	result, err = w.store().Export(t.Context(), asked(), newThread(t))
	exporting := created(t, result, err)
	w.onResult = func() { w.suspend.Store(true) }
	looks := 0
	w.work(t.Context(), t, func() bool { looks++; return looks > 100 && w.suspend.Load() })
	w.onResult = nil
	sent := len(w.order)
	for _, id := range []task.ID{importing, exporting} {
		if found := w.find(t, id); found.Finished() || found.Parts > 1 {
			t.Errorf("while the tenant is suspended: %+v", found.Row)
		}
	}
	if sent == lines/10*9 {
		t.Fatal("all lines were sent")
	}
	w.suspend.Store(false)
	found, rejected := w.finish(t, importing)
	if found.Status != task.Succeeded || found.Done != lines {
		t.Errorf("after the suspension: %+v", found.Row)
	}
	wantApplied(t, w, lines)
	wantRejected(t, rejected, lines)
	for key, times := range w.applied {
		if times > 1 {
			t.Fatalf("the line %s was sent %d times", key, times)
		}
	}
	if found, exported := w.finish(t, exporting); found.Status != task.Succeeded || exported != strings.Join(w.events, "\n")+"\n" {
		t.Errorf("after the suspension: %+v", found.Row)
	}
}

// A part that takes long does not delay the stop.
func TestASlowImportOfASuspendedTenant(t *testing.T) {
	testenv.Bubble(t, testASlowImportOfASuspendedTenant)
}

func testASlowImportOfASuspendedTenant(t *testing.T) {
	w := newWorld()
	w.waits = 10 * time.Millisecond
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(strings.Repeat(`{"path":"/say","body":{"key":"a","text":"b"}}`+"\n", 500)))
	id := created(t, result, err)
	begun := time.Now()
	w.work(t.Context(), t, func() bool {
		if len(w.order) > 0 {
			w.suspend.Store(true)
		}
		return time.Since(begun) > 3*time.Second
	})
	if found := w.find(t, id); found.Finished() || len(w.order) < 10 || len(w.order) > 200 {
		t.Errorf("%d lines were sent: %+v", len(w.order), found.Row)
	}
}

func TestAnExport(t *testing.T) { testenv.Bubble(t, testAnExport) }

func testAnExport(t *testing.T) {
	w := newWorld()
	const text = `{"text":"say ,\"client_ip\":\"x\""`
	w.events = []string{text + `,"client_ip":"192.0.2.7","seq_nr":1}`}
	for i := range 2999 {
		w.events = append(w.events, fmt.Sprintf(`{"seq_nr":%d,"text":%q}`, i+2, strings.Repeat("x", 300)))
	}
	result, err := w.store().Export(t.Context(), asked(), newThread(t))
	id := created(t, result, err)
	ctx, killed := context.WithCancelCause(t.Context())
	parts := 0
	w.onResult = func() {
		_ = es.Wait(t.Context(), time.Second) // so that each part is reported
		if parts++; parts == 3 {
			killed(errKilled)
		}
	}
	w.work(ctx, t, func() bool { return false })
	w.onResult = nil
	found, exported := w.finish(t, id)
	w.events[0] = text + `,"seq_nr":1}` // without the address
	if want := strings.Join(w.events, "\n") + "\n"; exported != want || found.Status != task.Succeeded || found.Done != 3000 || found.Total != 3000 {
		t.Errorf("%d bytes of %d, %+v", len(exported), len(want), found.Row)
	}
}

func TestAnExportIsForAdmins(t *testing.T) { testenv.Bubble(t, testAnExportIsForAdmins) }

func testAnExportIsForAdmins(t *testing.T) {
	w := newWorld()
	w.events = []string{"{}"}
	result, err := w.store().Export(t.Context(), asked(), newThread(t))
	id := created(t, result, err)
	w.denied = thread.ErrNotAdmin // revoked in the meantime
	found, exported := w.finish(t, id)
	if found.Status != task.Failed || found.Message != thread.ErrNotAdmin.Error() || exported != "" {
		t.Errorf("%+v: %q", found.Row, exported)
	}
	if _, err := w.store().Export(t.Context(), asked(), newThread(t)); !errors.Is(err, thread.ErrNotAdmin) {
		t.Errorf("got %v", err)
	}
}

func TestACommandIsDoneLater(t *testing.T) { testenv.Bubble(t, testACommandIsDoneLater) }

func testACommandIsDoneLater(t *testing.T) {
	for text, want := range map[string]struct {
		status          task.Status
		result, message string
	}{
		"hello":  {task.Succeeded, `{"done":true}`, ""},
		"hello!": {task.Failed, problemOf(t, ident.Conflict("rejected", "it has a !")), "it has a !"},
	} {
		w := newWorld()
		w.busy = 2
		later := saying(fmt.Sprintf(`{"text":%q}`, text))
		later.IdempotencyKey = "the client's"
		result, err := w.store().Later(t.Context(), "/say", later)
		found, answer := w.finish(t, created(t, result, err))
		if found.Status != want.status || found.Message != want.message || answer != want.result+"\n" || found.Total != 1 || found.Request.Subject != "/say" {
			t.Errorf("%s: %+v, %s", text, found.Row, answer)
		}
		if want.status == task.Succeeded && w.applied["the client's"] != 1 {
			t.Errorf("the command was sent with the keys %v", w.applied)
		}
	}
}

func TestAnInputThatIsGone(t *testing.T) { testenv.Bubble(t, testAnInputThatIsGone) }

func testAnInputThatIsGone(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10)))
	clear(w.files)
	if found, _ := w.finish(t, created(t, result, err)); found.Status != task.Failed || !strings.Contains(found.Message, "expired") {
		t.Errorf("%+v", found.Row)
	}
}

// A fault of the program must not keep a task running for ever. While a store does not answer, the task is retried.
func TestATaskThatCanNotBeDone(t *testing.T) { testenv.Bubble(t, testATaskThatCanNotBeDone) }

func testATaskThatCanNotBeDone(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10)))
	id := created(t, result, err)
	w.broken = es.ErrUnavailable
	looks := 0
	w.work(t.Context(), t, func() bool { looks++; return looks > 100 })
	if found := w.find(t, id); found.Finished() {
		t.Errorf("while nothing answers: %+v", found.Row)
	}
	w.broken = errors.New("a fault")
	w.work(t.Context(), t, func() bool { return w.finished(id) })
	if found := w.find(t, id); found.Status != task.Failed || !strings.Contains(found.Message, "log") {
		t.Errorf("after many attempts: %+v", found.Row)
	}
}

// A panic is such a fault: it must not end the program, which would start again with the same task.
func TestATaskThatPanics(t *testing.T) { testenv.Bubble(t, testATaskThatPanics) }

func testATaskThatPanics(t *testing.T) {
	for about, panics := range map[string]func(*world){
		"in a command": func(w *world) { w.onSay = func(say) error { panic("a fault") } },
		"beside it":    func(w *world) { w.onResult = func() { panic("a fault") } },
	} {
		w := newWorld()
		panics(w)
		result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(1)))
		id := created(t, result, err)
		w.work(t.Context(), t, func() bool { return w.finished(id) })
		if found := w.find(t, id); found.Status != task.Failed || !strings.Contains(found.Message, "log") {
			t.Errorf("%s: %+v", about, found.Row)
		}
	}
}

// However many tasks fail again and again, the others do not wait for them.
func TestManyTasksThatFail(t *testing.T) { testenv.Bubble(t, testManyTasksThatFail) }

func testManyTasksThatFail(t *testing.T) {
	w := newWorld()
	w.onSay = func(asked say) (err error) {
		if asked.Text == "fails" {
			err = errors.New("a fault")
		}
		return err
	}
	later := func(text string) task.ID {
		t.Helper()
		result, err := w.store().Later(t.Context(), "/say", saying(fmt.Sprintf(`{"text":%q}`, text)))
		return created(t, result, err)
	}
	for range 150 {
		later("fails")
	}
	begun, last := time.Now(), later("hello")
	if found, _ := w.finish(t, last); found.Status != task.Succeeded || time.Since(begun) > 10*time.Second {
		t.Errorf("after %s: %+v", time.Since(begun), found.Row)
	}
}

// Without erasure nothing is sealed, whatever it looks like.
func TestALineThatLooksSealed(t *testing.T) { testenv.Bubble(t, testALineThatLooksSealed) }

func testALineThatLooksSealed(t *testing.T) {
	w := newWorld()
	const said, other = `{"path":"/say","body":{"key":"1","text":"\u0001"}}`, `"\u00011:"`
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(said+"\n"+other))
	found, rejected := w.finish(t, created(t, result, err))
	if found.Status != task.Succeeded || found.Done != 2 || len(w.order) != 1 || !strings.HasPrefix(rejected, `{"line":2,"request":`+other+`,`) {
		t.Errorf("%+v, %s", found.Row, rejected)
	}
}

func TestWhoSeesWhat(t *testing.T) { testenv.Bubble(t, testWhoSeesWhat) }

func testWhoSeesWhat(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10)))
	id := created(t, result, err)
	if _, err := w.store().Find(t.Context(), es.Caller{Executor: bob.String()}, id.String()); !errors.Is(err, task.ErrTaskNotFound) {
		t.Errorf("another account finds the task: %v", err)
	}
	if _, err := w.store().Result(t.Context(), w.find(t, id)); !errors.Is(err, tasks.ErrTaskNotFinished) {
		t.Errorf("a result before the end: %v", err)
	}
	finished, _ := w.finish(t, id)
	// A task's time is in its id.
	finished.ID = ident.New[task.Task](time.Now().Add(-tasks.Kept-time.Minute), [10]byte{})
	if _, err := w.store().Result(t.Context(), finished); !errors.Is(err, tasks.ErrExpired) {
		t.Errorf("an expired result: %v", err)
	}
}
