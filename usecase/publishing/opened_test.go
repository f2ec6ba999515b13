package publishing_test

import (
	"context"
	"errors"
	"testing"

	"example.com/threads/usecase/erasure"
	"example.com/threads/usecase/publishing"
)

// taking is a broker that stores the last event.
type taking struct{ last publishing.Event }

func (b *taking) Publish(_ context.Context, event publishing.Event) error {
	b.last = event
	return nil
}

// A sealed text that can't be opened must never reach a broker, and parks only its aggregate.
func TestSealedTextsAreNotPublished(t *testing.T) {
	var off *erasure.Keyring
	var broker taking
	to := publishing.Opened(&broker, off)
	plain := publishing.Event{Event: publishing.Content{Type: "Said", Data: []byte(`{"text":"hello"}`)}}
	if err := to.Publish(t.Context(), plain); err != nil || string(broker.last.Event.Data) != `{"text":"hello"}` {
		t.Errorf("published %s, %v", broker.last.Event.Data, err)
	}
	broker = taking{}
	sealed := publishing.Event{Event: publishing.Content{Type: "Said", Data: []byte(`{"text":"\u00011ada:YWJj"}`)}}
	var refused *publishing.RefusedError
	if err := to.Publish(t.Context(), sealed); !errors.As(err, &refused) || broker.last.Event.Data != nil {
		t.Errorf("published %s, %v", broker.last.Event.Data, err)
	}
}
