package launch_test

import (
	"context"
	"path/filepath"
	"testing"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

func TestLockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "lock")
	unlock, err := launch.Lock(t.Context(), path, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	if unlock, err := launch.Lock(impatient, path, func(string, ...any) { cancel() }); err == nil {
		unlock()
		t.Error("there are two holders")
	}
	waiting := make(chan struct{}, 1)
	next := make(chan error, 1)
	go func() {
		unlock, err := launch.Lock(t.Context(), path, func(string, ...any) { waiting <- struct{}{} })
		if err == nil {
			unlock()
		}
		next <- err
	}()
	<-waiting
	unlock()
	if err := <-next; err != nil {
		t.Errorf("the waiting call returned %v", err)
	}
}
