package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// shownLetter is a dead letter for people and programs.
type shownLetter struct {
	Projection string    `json:"projection"`
	Tenant     string    `json:"tenant"`
	AID        string    `json:"aid"`
	SeqNr      uint64    `json:"seq_nr"`
	EventID    string    `json:"event_id"`
	Reason     string    `json:"reason"`
	Attempts   int       `json:"attempts"`
	ParkedAt   time.Time `json:"parked_at"`
	RetryAt    time.Time `json:"retry_at"`
	Event      any       `json:"event,omitempty"` // JSON if valid, otherwise text
}

func letterOf(name string, letter projection.DeadLetter) shownLetter {
	return shownLetter{
		Projection: name, Tenant: letter.Key.Tenant.String(), AID: letter.Key.String(), SeqNr: letter.SeqNr, EventID: letter.EventID,
		Reason: letter.Reason, Attempts: letter.Attempts, ParkedAt: letter.ParkedAt, RetryAt: letter.RetryAt,
	}
}

func (o *operator) sayLetter(letter shownLetter) {
	fmt.Fprintf(o.stdout, "%s is parked on event %d in the projection %s since %s\n  reason    %s\n  attempts  %d, the next at %s\n",
		whose(letter.Tenant, letter.AID), letter.SeqNr, letter.Projection, letter.ParkedAt.Format(time.RFC3339), letter.Reason, letter.Attempts,
		letter.RetryAt.Format(time.RFC3339))
}

func shownLetters(ctx context.Context, db *sqlx.DB) ([]shownLetter, error) {
	letters, err := projectionstore.Letters(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	shown := []shownLetter{}
	for _, letter := range letters {
		shown = append(shown, letterOf(letter.Projection, letter.DeadLetter))
	}
	return shown, nil
}

// parkedAggregate is an aggregate's dead letter and its store.
type parkedAggregate struct {
	id     eventstore.AggregateID
	key    usecase.Key
	store  *projectionstore.Store
	letter projection.DeadLetter
}

func findLetter(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (found parkedAggregate, err error) {
	if found.id, err = aggregateOf(cmd); err != nil {
		return found, err
	}
	if found.key, err = keyOf(found.id); err != nil {
		return found, err
	}
	name := cmd.String("projection")
	if found.store, err = projectionstore.New(db, name); err != nil {
		return found, err
	}
	letter, isParked, err := found.store.Letter(ctx, found.key)
	if err == nil && !isParked {
		err = fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", whose(found.id.Tenant, found.id.String()), name)
	}
	found.letter = letter
	return found, err
}

func (p parkedAggregate) stuck() stuck {
	return stuck{
		id: p.id, last: stateOf(p.letter),
		look: func(ctx context.Context) (stuckState, bool, error) {
			letter, parked, err := p.store.Letter(ctx, p.key)
			return stateOf(letter), parked, err
		},
		retry: func(ctx context.Context, now time.Time) error { return p.store.Retry(ctx, p.key, now) },
		skip: func(ctx context.Context, reason, by string, now time.Time) error {
			return p.store.SkipEvent(ctx, p.key, p.letter.SeqNr, reason, by, now)
		},
	}
}

func stateOf(letter projection.DeadLetter) stuckState {
	return stuckState{letter.SeqNr, letter.Attempts, letter.Reason}
}

func (o *operator) showParked(ctx context.Context, cmd *cli.Command, settings rowSettings, db *sqlx.DB) error {
	found, err := findLetter(ctx, cmd, db)
	if err != nil {
		return err
	}
	payload := found.letter.Payload
	if len(payload) == 0 {
		if payload, err = o.payloadOf(ctx, settings, found); err != nil {
			return err
		}
	}
	letter := letterOf(cmd.String("projection"), found.letter)
	if letter.Event = string(payload); json.Valid(payload) {
		letter.Event = json.RawMessage(payload)
	}
	if cmd.Bool(jsonFlag.Name) {
		return o.printJSON(letter)
	}
	o.sayLetter(letter)
	event, _ := indent("  ", letter.Event) // JSON or text always encodes
	_, err = fmt.Fprintf(o.stdout, "  event     %s\n", event)
	return err
}

// payloadOf returns the event as stored in the journal.
func (o *operator) payloadOf(ctx context.Context, settings rowSettings, found parkedAggregate) ([]byte, error) {
	s, closing, err := openStore(ctx, settings.storeSettings, settings.logging.Logger(o.stderr))
	if err != nil {
		return nil, err
	}
	defer closing()
	for entry, err := range s.store.Gateway.Entries(ctx, found.id, found.letter.SeqNr-1, found.letter.SeqNr) {
		if err != nil {
			return fmt.Appendf(nil, "it can't be read from the journal: %v", err), nil
		}
		return entry.Payload, nil
	}
	return []byte("it is not in the journal"), nil
}
