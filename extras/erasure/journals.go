package erasure

import (
	"context"
	"iter"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/extras/history"
)

// Journals returns journals that open sealed names and texts; those of erased people become [Erased].
func (k *Keyring) Journals(open func(context.Context) (history.Journals, error)) func(context.Context) (history.Journals, error) {
	return func(ctx context.Context) (history.Journals, error) {
		journals, err := open(ctx)
		return history.Journals{
			Threads:  openedThreads{journals.Threads, k},
			Accounts: openedAccounts{journals.Accounts, k},
		}, err
	}
}

type openedThreads struct {
	history.ThreadJournal
	keys *Keyring
}

// Latest implements [history.ThreadJournal].
func (o openedThreads) Latest(ctx context.Context, key es.AggregateID) (es.State[thread.Thread], uint64, error) {
	state, version, err := o.ThreadJournal.Latest(ctx, key)
	if err == nil {
		err = o.openName(ctx, key.Tenant, &state)
	}
	return state, version, err
}

// At implements [history.ThreadJournal].
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

// Describe implements [history.ThreadJournal].
func (o openedThreads) Describe(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[es.Described, error] {
	return o.keys.described(ctx, o.ThreadJournal.Describe(ctx, key, after, upTo))
}

// EventsAt implements [history.ThreadJournal]. It opens the texts of all messages at once, because they are those of a
// page. Texts from before ERASURE=on become erased with their sender, too.
func (o openedThreads) EventsAt(ctx context.Context, key es.AggregateID, seqNrs []uint64) iter.Seq2[es.Recorded[thread.Event], error] {
	return func(yield func(es.Recorded[thread.Event], error) bool) {
		var events []es.Recorded[thread.Event]
		var failed error
		for event, err := range o.ThreadJournal.EventsAt(ctx, key, seqNrs) {
			if failed = err; err == nil {
				events = append(events, event)
			}
		}
		written := make([]string, len(events))
		var texts []Text
		for i, event := range events {
			withMessage(event.Event, func(message *thread.Message) {
				written[i] = message.Text.String()
				texts = append(texts, Text{Owner: message.Sender.String(), Value: &written[i]})
			})
		}
		if err := o.keys.Open(ctx, key.Tenant, texts); err != nil {
			yield(es.Recorded[thread.Event]{}, err)
			return
		}
		for i, event := range events {
			event.Event = withMessage(event.Event, func(message *thread.Message) { message.Text = thread.RecordedText(written[i]) })
			if !yield(event, nil) {
				return
			}
		}
		if failed != nil {
			yield(es.Recorded[thread.Event]{}, failed)
		}
	}
}

// withMessage returns an event after a change to its message, if it has one.
func withMessage(event thread.Event, change func(*thread.Message)) thread.Event {
	if posted, is := event.(thread.MessagePosted); is {
		change(&posted.Message)
		return posted
	}
	if edited, is := event.(thread.MessageEdited); is {
		change(&edited.Message)
		return edited
	}
	return event
}

type openedAccounts struct {
	history.AccountJournal
	keys *Keyring
}

// Describe implements [history.AccountJournal].
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
