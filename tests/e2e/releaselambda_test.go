package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/lambdatest"
)

// functions are the releases of cmd/lambda-updater. While there are two, as in a gradual deployment, each batch goes to
// one of them.
type functions struct {
	env     []string
	output  testenv.Log
	mapping *lambdatest.Mapping

	mutex sync.Mutex
	made  map[string]*lambdatest.Service // by release
	there []string
}

// newFunctions lets a mapping and a schedule call the functions until the test ends.
func newFunctions(t *testing.T, env []string) *functions {
	t.Helper()
	f := &functions{env: env, made: map[string]*lambdatest.Service{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	f.mapping = (&lambdatest.Mapping{Invoke: f.invoke, BatchSize: 100, Window: 10 * time.Millisecond, Factor: 4, Bisect: true, Retries: -1, Pause: 50 * time.Millisecond}).Start(ctx)
	var calling sync.WaitGroup
	calling.Go(func() {
		err := lambdatest.Follow(ctx, testenv.DynamoDBConfig(t), variable(env, "JOURNAL_TABLE"), 4, f.mapping.Feed)
		if ctx.Err() == nil {
			t.Errorf("the stream: %v", err)
		}
	})
	calling.Go(func() {
		for es.Wait(ctx, time.Second) == nil {
			// What fails is tried again by the next one.
			_, _ = f.invoke(ctx, []byte(`{"source":"aws.events","detail-type":"Scheduled Event"}`))
		}
	})
	t.Cleanup(func() {
		stop()
		calling.Wait()
		f.mapping.Wait()
		if t.Failed() {
			text := f.output.String()
			t.Logf("the last output of the functions:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return f
}

func (f *functions) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	f.mutex.Lock()
	var chosen *lambdatest.Service
	if len(f.there) > 0 {
		chosen = f.made[f.there[rand.IntN(len(f.there))]]
	}
	f.mutex.Unlock()
	if chosen == nil {
		return nil, errors.New("no release is there")
	}
	return chosen.Invoke(ctx, payload)
}

func (f *functions) start(t *testing.T, release string) {
	t.Helper()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.made[release] == nil {
		const environments = 4
		f.made[release] = lambdatest.NewService(t, &lambdatest.Service{
			Path: filepath.Join(release, "lambda-updater"), Env: f.env, Timeout: 10 * time.Second, Output: &f.output,
		}, environments)
	}
	f.there = append(f.there, release)
}

// stop gives a release no more to do. What it does then, it may end.
func (f *functions) stop(release string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.there = slices.DeleteFunc(f.there, func(there string) bool { return there == release })
}

// crash kills an environment that works.
func (f *functions) crash(t *testing.T, release string) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		if !f.made[release].Kill(0) {
			return errors.New("no environment works")
		}
		return nil
	})
}

func (f *functions) active(release string) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Contains(f.there, release)
}
