package erasure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/extras/erasure"
)

// taking is a broker that stores the events.
type taking struct {
	mu     sync.Mutex
	events []es.Described
	before func(es.Described) // called before an event is stored
}

func (b *taking) Publish(_ context.Context, event es.Described) error {
	if b.before != nil {
		b.before(event)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, event)
	return nil
}

func said(data string) es.Described {
	return es.Described{Type: "Said", Data: []byte(data)}
}

// A sealed text that can't be opened must never reach a broker, and parks only its aggregate.
func TestSealedTextsAreNotPublished(t *testing.T) {
	var off *erasure.Keyring
	var broker taking
	to := off.Broker(broker.Publish)
	if err := to(t.Context(), said(`{"text":"hello"}`)); err != nil || string(broker.events[0].Data) != `{"text":"hello"}` {
		t.Errorf("published %v, %v", broker.events, err)
	}
	if err := to(t.Context(), said(`{"text":"\u00011ada:YWJj"}`)); !errors.Is(err, projection.ErrRefused) || len(broker.events) != 1 {
		t.Errorf("published %v, %v", broker.events, err)
	}
}

// keyrings returns the keyrings of two processes with the same keys.
func keyrings(t *testing.T, url string) (one, other *erasure.Keyring) {
	t.Helper()
	store, _ := openKeys(t, url)
	master := parse(t, encoded(7))
	return erasure.NewKeyring(store, master, time.Now), erasure.NewKeyring(store, master, time.Now)
}

// Once the event that erases a person is at the broker, no text of the person may follow in clear: neither one that was
// opened before, nor one that is opened with a cached key.
func TestNoClearTextFollowsAnErasure(t *testing.T) {
	for name, url := range map[string]func(*testing.T) string{
		"SQLite": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "events.db") },
		"MySQL":  func(t *testing.T) string { return testenv.MySQL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			writer, keys := keyrings(t, url(t))
			messages := make([]es.Described, 20)
			for i := range messages {
				sealed, err := writer.Seal(t.Context(), es.Tenant(""), "ada", fmt.Sprint(i), "Rhubarbwords")
				if err != nil {
					t.Fatal(err)
				}
				data, err := json.Marshal(map[string]string{"text": sealed})
				if err != nil {
					t.Fatal(err)
				}
				messages[i] = said(string(data))
			}
			first, answer := make(chan struct{}), make(chan struct{})
			var once sync.Once
			broker := &taking{before: func(es.Described) { once.Do(func() { close(first); <-answer }) }}
			to := keys.Broker(broker.Publish)
			var publishers sync.WaitGroup
			publish := func(event es.Described) {
				publishers.Go(func() {
					if err := to(t.Context(), event); err != nil {
						t.Error(err)
					}
				})
			}
			publish(messages[0])
			<-first // it is on its way to the broker in clear
			// As the command does.
			if err := writer.Destroy(t.Context(), es.Tenant(""), "ada"); err != nil {
				t.Fatal(err)
			}
			erased := es.Described{Type: "AccountErased", Data: []byte(`{}`)}
			erased.AggregateType, erased.AggregateID = "account", "ada"
			publish(erased)
			for _, message := range messages[1:] {
				publish(message)
			}
			_ = es.Wait(t.Context(), 50*time.Millisecond) // a wrong order needs time to happen
			close(answer)
			publishers.Wait()
			var after, clear int
			for _, event := range broker.events {
				switch {
				case event.Type == "AccountErased":
					after = 1
				case bytes.Contains(event.Data, []byte("Rhubarbwords")):
					clear += after
				case !bytes.Contains(event.Data, []byte(erasure.Erased)):
					t.Errorf("published %s", event.Data)
				}
			}
			if len(broker.events) != 21 || after != 1 || clear > 0 {
				t.Errorf("%d events, %d in clear after the erasure", len(broker.events), clear)
			}
			if _, err := writer.Seal(t.Context(), es.Tenant(""), "bob", "1", "Bob's"); err != nil {
				t.Errorf("others: %v", err)
			}
		})
	}
}
