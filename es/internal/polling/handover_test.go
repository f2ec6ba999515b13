package polling_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// projector is a projector of one function.
type projector func(ctx context.Context) error

func (p projector) Project(ctx context.Context, _ projection.Batch) (projection.Outcome, error) {
	return projection.Outcome{}, p(ctx)
}

func (projector) Begin(context.Context, bool) error { return nil }

func (projector) OweRepair(context.Context) error { return nil }

func TestAStopLeavesTheBatchInHandItsTime(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		begun := time.Now()
		err := polling.HandOver(ctx, projector(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}), projection.Batch{})
		if took := time.Since(begun); !errors.Is(err, context.Canceled) || took != time.Minute+8*time.Second {
			t.Errorf("the call was interrupted after %s with %v", took, err)
		}
	})
}

func TestAPanicIsAnError(t *testing.T) {
	err := polling.HandOver(t.Context(), projector(func(context.Context) error { panic("out of order") }), projection.Batch{})
	if err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v", err)
	}
}

func TestRetryGoesOnUntilItSucceedsOrIsStopped(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		broken := errors.New("out of order")
		var tried, reported int
		report := func(error) { reported++ }
		begun := time.Now()
		err := polling.Retry(ctx, report, func(context.Context) error {
			if tried++; tried <= 20 {
				return broken
			}
			return nil
		})
		// 20 waits: 100 ms doubled up to 3.2 s, then 14 times 5 s, together 76.3 s, less up to half of each.
		const waits = 76300 * time.Millisecond
		if took := time.Since(begun).Round(time.Millisecond); err != nil || tried != 21 || reported != 20 ||
			took < waits/2 || took > waits {
			t.Errorf("after %s, %d calls and %d reports: %v", took, tried, reported, err)
		}
		err = polling.Retry(ctx, report, func(context.Context) error { stop(); return broken })
		if !errors.Is(err, context.Canceled) || reported != 20 {
			t.Errorf("stopped with %v after %d reports", err, reported)
		}
	})
}
