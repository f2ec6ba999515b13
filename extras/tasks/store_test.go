package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
)

// breaksOff is a body whose client goes after it.
type breaksOff struct{ leave func() }

func (b breaksOff) Read([]byte) (int, error) {
	b.leave()
	return 0, io.ErrUnexpectedEOF
}

func TestAnInputThatNoTaskNeedsIsDeleted(t *testing.T) {
	testenv.Bubble(t, testAnInputThatNoTaskNeedsIsDeleted)
}

func testAnInputThatNoTaskNeedsIsDeleted(t *testing.T) {
	const lines = 20_000 // many parts
	for about, begin := range map[string]func(context.Context, *world) (es.Result, error){
		"the client breaks off": func(ctx context.Context, w *world) (es.Result, error) {
			ctx, leave := context.WithCancel(ctx)
			return w.store().Import(ctx, asked(), io.MultiReader(strings.NewReader(input(lines)), breaksOff{leave}))
		},
		"a line is too long": func(ctx context.Context, w *world) (es.Result, error) {
			return w.store().Import(ctx, asked(), strings.NewReader(input(lines)+strings.Repeat("x", tasks.MaxLine+1)))
		},
		"the task is rejected": func(ctx context.Context, w *world) (es.Result, error) {
			w.refuses = es.ErrKeyReused
			return w.store().Import(ctx, asked(), strings.NewReader(input(lines)))
		},
		"a command is rejected": func(ctx context.Context, w *world) (es.Result, error) {
			w.refuses = ident.Conflict("any", "any")
			return w.store().Later(ctx, "/say", saying("{}"))
		},
	} {
		w := newWorld()
		if result, err := begin(t.Context(), w); err == nil || w.held() > 0 {
			t.Errorf("%s: %+v, %v; %d parts are left", about, result, err, w.held())
		}
	}
}

func TestAnInputWhoseTaskMayExistIsKept(t *testing.T) {
	testenv.Bubble(t, testAnInputWhoseTaskMayExistIsKept)
}

func testAnInputWhoseTaskMayExistIsKept(t *testing.T) {
	w := newWorld()
	w.refuses = es.ErrUnavailable
	if _, err := w.store().Import(t.Context(), asked(), strings.NewReader("{}")); !errors.Is(err, es.ErrUnavailable) || w.held() != 1 {
		t.Errorf("%v; %d parts are left", err, w.held())
	}
}

func TestARepeatedInputIsDeleted(t *testing.T) { testenv.Bubble(t, testARepeatedInputIsDeleted) }

func testARepeatedInputIsDeleted(t *testing.T) {
	w := newWorld()
	repeatable := asked()
	repeatable.IdempotencyKey = "one"
	first, err := w.store().Import(t.Context(), repeatable, strings.NewReader(input(3000)))
	id, parts := created(t, first, err), w.held()
	for range 3 {
		if again, err := w.store().Import(t.Context(), repeatable, strings.NewReader(input(3000))); err != nil || again.Key != first.Key || w.held() != parts {
			t.Errorf("%+v, %v; %d parts of %d", again, err, w.held(), parts)
		}
	}
	if found, _ := w.finish(t, id); found.Status != task.Succeeded || w.held() > 0 {
		t.Errorf("the first task: %+v; %d parts are left", found.Row, w.held())
	}
}

func TestTheInputOfACancelledTaskIsDeleted(t *testing.T) {
	testenv.Bubble(t, testTheInputOfACancelledTaskIsDeleted)
}

func testTheInputOfACancelledTaskIsDeleted(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(3000)))
	id := created(t, result, err)
	_, err = w.store().Cancel(t.Context(), askedBy(bob), id)
	if !errors.Is(err, task.ErrTaskNotFound) || w.held() == 0 {
		t.Errorf("not cancelled: %v; %d parts are left", err, w.held())
	}
	_, err = w.store().Cancel(t.Context(), asked(), id)
	if err != nil || w.held() > 0 {
		t.Errorf("cancelled: %v; %d parts are left", err, w.held())
	}
}

func TestBlankLinesAreNotStored(t *testing.T) { testenv.Bubble(t, testBlankLinesAreNotStored) }

func testBlankLinesAreNotStored(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(strings.Repeat(" \n", 100_000)+"{}"))
	id := created(t, result, err)
	if w.held() != 1 {
		t.Errorf("%d parts are stored", w.held())
	}
	if found, rejected := w.finish(t, id); found.Done != 1 || !strings.HasPrefix(rejected, `{"line":100001,`) {
		t.Errorf("%+v, %s", found.Row, rejected)
	}
}

func TestNoRoom(t *testing.T) { testenv.Bubble(t, testNoRoom) }

func testNoRoom(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10)))
	id := created(t, result, err)
	w.full = true
	if _, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(10))); !errors.Is(err, tasks.ErrNoRoom) {
		t.Errorf("an import: %v", err)
	}
	if _, err := w.store().Later(t.Context(), "/say", saying("{}")); !errors.Is(err, tasks.ErrNoRoom) {
		t.Errorf("a command: %v", err)
	}
	if found, rejected := w.finish(t, id); found.Status != task.Failed || found.Done != 10 || found.Rejected != 1 || rejected != "" ||
		!strings.HasPrefix(found.Message, "lines 1 to 10 were handled") || !strings.HasSuffix(found.Message, tasks.ErrNoRoom.Error()) {
		t.Errorf("a task without room for its result: %+v, %s", found.Row, rejected)
	}
}

// What is known of the parts before stays. The message tells where to go on.
func TestNoRoomForMore(t *testing.T) { testenv.Bubble(t, testNoRoomForMore) }

func testNoRoomForMore(t *testing.T) {
	w := newWorld()
	result, err := w.store().Import(t.Context(), asked(), strings.NewReader(input(1000)))
	id, parts := created(t, result, err), 0
	w.onResult = func() { parts++; w.full = parts == 2 }
	found, rejected := w.finish(t, id)
	var first, last uint64
	if _, err := fmt.Sscanf(found.Message, "lines %d to %d were handled", &first, &last); err != nil || found.Status != task.Failed {
		t.Fatalf("%+v, %v", found.Row, err)
	}
	if last != found.Done || last == 1000 || first == 1 || len(w.order)+int(found.Rejected) != int(last) {
		t.Errorf("%d lines were applied: %+v", len(w.order), found.Row)
	}
	wantRejected(t, rejected, int(first-1)/10*10)
}

func TestACommandWithoutRoomForItsAnswer(t *testing.T) {
	testenv.Bubble(t, testACommandWithoutRoomForItsAnswer)
}

func testACommandWithoutRoomForItsAnswer(t *testing.T) {
	for text, message := range map[string]string{"hello": "the command was done, but", "hello!": "it has a !"} {
		w := newWorld()
		result, err := w.store().Later(t.Context(), "/say", saying(fmt.Sprintf(`{"text":%q}`, text)))
		id := created(t, result, err)
		w.full = true
		if found, answer := w.finish(t, id); found.Done != 1 || !strings.HasPrefix(found.Message, message) || answer != "" {
			t.Errorf("%s: %+v, %s", text, found.Row, answer)
		}
	}
}

func TestExpiredFilesAreDeleted(t *testing.T) { testenv.Bubble(t, testExpiredFilesAreDeleted) }

func testExpiredFilesAreDeleted(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	w.work(ctx, t, w.swept.Load)
	if !w.swept.Load() {
		t.Error("the worker has not deleted expired files")
	}
}
