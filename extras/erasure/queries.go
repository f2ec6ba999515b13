package erasure

import (
	"context"
	"iter"
	"maps"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/extras/history"
	"example.com/threads/usecase/query"
)

// Reader returns a reader of rows that opens sealed names and texts; those of erased people become [Erased].
func (k *Keyring) Reader(rows query.Reader) query.Reader { return openedRows{rows, k} }

type openedRows struct {
	query.Reader
	keys *Keyring
}

// open opens the texts of rows, unless reading them has failed.
func (o openedRows) open(ctx context.Context, failed error, tenant es.Tenant, texts ...Text) error {
	if failed != nil {
		return failed
	}
	return o.keys.Open(ctx, tenant, texts)
}

// Thread implements [query.Reader].
func (o openedRows) Thread(ctx context.Context, viewer query.Viewer, id thread.ID) (query.Thread, error) {
	row, err := o.Reader.Thread(ctx, viewer, id)
	err = o.open(ctx, err, viewer.Tenant, Text{Value: &row.Name})
	return row, err
}

// ThreadByCode implements [query.Reader].
func (o openedRows) ThreadByCode(ctx context.Context, viewer query.Viewer, code thread.Code) (query.Thread, error) {
	row, err := o.Reader.ThreadByCode(ctx, viewer, code)
	err = o.open(ctx, err, viewer.Tenant, Text{Value: &row.Name})
	return row, err
}

// Threads implements [query.Reader].
func (o openedRows) Threads(ctx context.Context, viewer query.Viewer, page query.Range) (query.Page[query.Thread], error) {
	found, err := o.Reader.Threads(ctx, viewer, page)
	texts := make([]Text, len(found.Items))
	for i := range found.Items {
		texts[i] = Text{Value: &found.Items[i].Name}
	}
	return found, o.open(ctx, err, viewer.Tenant, texts...)
}

// Message implements [query.Reader].
func (o openedRows) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	row, err := o.Reader.Message(ctx, viewer, id)
	err = o.open(ctx, err, viewer.Tenant, Text{row.Sender.String(), &row.Text})
	return row, err
}

// Messages implements [query.Reader]. Texts from before ERASURE=on become erased with their sender, too.
func (o openedRows) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	found, err := o.Reader.Messages(ctx, tenant, threads, page)
	var texts []Text
	for _, page := range found {
		for i := range page.Items {
			texts = append(texts, Text{page.Items[i].Sender.String(), &page.Items[i].Text})
		}
	}
	return found, o.open(ctx, err, tenant, texts...)
}

// Accounts implements [query.Reader].
func (o openedRows) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found, err := o.Reader.Accounts(ctx, tenant, ids)
	rows, texts := slices.Collect(maps.Values(found)), make([]Text, len(found))
	for i := range rows {
		texts[i] = Text{rows[i].ID.String(), &rows[i].Name}
	}
	err = o.open(ctx, err, tenant, texts...)
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, err
}

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
	err = o.openName(ctx, err, key.Tenant, &state)
	return state, version, err
}

// At implements [history.ThreadJournal].
func (o openedThreads) At(ctx context.Context, key es.AggregateID, version uint64) (es.State[thread.Thread], error) {
	state, err := o.ThreadJournal.At(ctx, key, version)
	err = o.openName(ctx, err, key.Tenant, &state)
	return state, err
}

// openName opens the name in a state, unless reading it has failed.
func (o openedThreads) openName(ctx context.Context, failed error, tenant es.Tenant, state *es.State[thread.Thread]) error {
	name := state.Value.Name().String()
	if failed != nil || !IsSealed(name) {
		return failed
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
		for event, err := range o.ThreadJournal.EventsAt(ctx, key, seqNrs) {
			if err != nil {
				yield(event, err)
				return
			}
			events = append(events, event)
		}
		texts := make([]Text, len(events)) // an empty one for an event without a message
		for i, event := range events {
			texts[i].Value = new(string)
			withMessage(event.Event, func(message *thread.Message) {
				texts[i].Owner, *texts[i].Value = message.Sender.String(), message.Text.String()
			})
		}
		err := o.keys.Open(ctx, key.Tenant, texts)
		for i, event := range events {
			event.Event = withMessage(event.Event, func(message *thread.Message) { message.Text = thread.RecordedText(*texts[i].Value) })
			if !yield(event, err) || err != nil {
				return
			}
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
