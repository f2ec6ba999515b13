package erasure

import (
	"context"
	"iter"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Journals returns journals that open sealed names and texts; those of erased people become [Erased].
func (k *Keyring) Journals(open func(context.Context) (query.Journals, error)) func(context.Context) (query.Journals, error) {
	return func(ctx context.Context) (query.Journals, error) {
		journals, err := open(ctx)
		return query.Journals{
			Threads:  openedThreads{journals.Threads, k},
			Accounts: openedAccounts{journals.Accounts, k},
		}, err
	}
}

type openedThreads struct {
	query.ThreadJournal
	keys *Keyring
}

// Latest implements [query.ThreadJournal].
func (o openedThreads) Latest(ctx context.Context, key es.AggregateID) (es.State[thread.Thread], uint64, error) {
	state, version, err := o.ThreadJournal.Latest(ctx, key)
	if err == nil {
		err = o.openName(ctx, key.Tenant, &state)
	}
	return state, version, err
}

// At implements [query.ThreadJournal].
func (o openedThreads) At(ctx context.Context, key es.AggregateID, version uint64) (es.State[thread.Thread], error) {
	state, err := o.ThreadJournal.At(ctx, key, version)
	if err == nil {
		err = o.openName(ctx, key.Tenant, &state)
	}
	return state, err
}

func (o openedThreads) openName(ctx context.Context, tenant es.Tenant, state *es.State[thread.Thread]) error {
	name := state.Value.Name().String()
	if !IsSealed(name) {
		return nil
	}
	name, err := o.keys.OpenOne(ctx, tenant, name)
	state.Value = state.Value.Apply(thread.Renamed{Name: writing.RecordedName(name)})
	return err
}

// Describe implements [query.ThreadJournal].
func (o openedThreads) Describe(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Described, error] {
	return o.keys.described(ctx, o.ThreadJournal.Describe(ctx, key, after, upTo))
}

// openAtOnce is how many events are opened with one read of the key store.
const openAtOnce = 500

// EventsAt implements [query.ThreadJournal].
func (o openedThreads) EventsAt(ctx context.Context, key es.AggregateID, seqNrs []uint64) iter.Seq2[es.Recorded[thread.Event], error] {
	return func(yield func(es.Recorded[thread.Event], error) bool) {
		var some []es.Recorded[thread.Event]
		flush := func() bool {
			err := o.openMessages(ctx, key.Tenant, some)
			for _, event := range some {
				if !yield(event, err) || err != nil {
					return false
				}
			}
			some = some[:0]
			return true
		}
		for event, err := range o.ThreadJournal.EventsAt(ctx, key, seqNrs) {
			if err != nil {
				if flush() {
					yield(event, err)
				}
				return
			}
			if some = append(some, event); len(some) == openAtOnce && !flush() {
				return
			}
		}
		flush()
	}
}

// openMessages opens the texts of messages in events. Texts from before ERASURE=on become erased with their sender,
// too.
func (o openedThreads) openMessages(ctx context.Context, tenant es.Tenant, events []es.Recorded[thread.Event]) error {
	written := make([]string, len(events))
	var texts []Text
	add := func(i int, message thread.Message) {
		written[i] = message.Text.String()
		texts = append(texts, Text{Owner: message.Sender.String(), Value: &written[i]})
	}
	for i, event := range events {
		if posted, is := event.Event.(thread.MessagePosted); is {
			add(i, posted.Message)
		}
		if edited, is := event.Event.(thread.MessageEdited); is {
			add(i, edited.Message)
		}
	}
	if err := o.keys.Open(ctx, tenant, texts); err != nil {
		return err
	}
	for i, event := range events {
		if posted, is := event.Event.(thread.MessagePosted); is {
			posted.Message.Text = thread.RecordedText(written[i])
			events[i].Event = posted
		}
		if edited, is := event.Event.(thread.MessageEdited); is {
			edited.Message.Text = thread.RecordedText(written[i])
			events[i].Event = edited
		}
	}
	return nil
}

type openedAccounts struct {
	query.AccountJournal
	keys *Keyring
}

// Describe implements [query.AccountJournal].
func (o openedAccounts) Describe(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Described, error] {
	return o.keys.described(ctx, o.AccountJournal.Describe(ctx, key, after, upTo))
}

// described opens events that are described in JSON.
func (k *Keyring) described(ctx context.Context, events iter.Seq2[es.Described, error]) iter.Seq2[es.Described, error] {
	return func(yield func(es.Described, error) bool) {
		for event, err := range events {
			if err == nil {
				event.Data, err = k.OpenJSON(ctx, event.Tenant, event.Data)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}
