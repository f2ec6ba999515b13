package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

const aboutLetters = `An event that can't be projected parks its aggregate: the rows of this one stay as they are, all others go on. What is parked is
tried again by itself, ever more seldom, up to every five minutes.`

const aboutSkip = `Lets a parked aggregate go on behind the event that it is parked on. The event stays in the journal; its effect is not in the rows.
Who decided so and why is kept: dead-letters list --skipped tells. Skip an event only when it can't be mended: often a newer release
reads it, and then a retry is enough.`

// outcomeWithin is how long a retry is waited for: the updater looks for parked aggregates every second.
const outcomeWithin = 10 * time.Second

func (o *operator) deadLetters() *cli.Command {
	of := &cli.StringFlag{Name: "projection", Value: chatrows.Projection, Usage: "which projection it is about"}
	return &cli.Command{
		Name: "dead-letters", Usage: "lists what is parked, and lets it go on",
		Commands: []*cli.Command{
			{
				Name: "list", Usage: "lists what is parked, of all projections", Description: aboutLetters,
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "skipped", Usage: "list what was skipped instead, and who said so and why"}, jsonFlag},
				Action: o.listLetters,
			},
			{
				Name: "show", Usage: "tells why an aggregate is parked, with the event as text", ArgsUsage: "AID", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, jsonFlag}, Action: o.showLetter,
			},
			{
				Name: "retry", Usage: "tries a parked aggregate again, or all of them", ArgsUsage: "[AID]", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, jsonFlag}, Action: o.retryLetter,
			},
			{
				Name: "skip", Usage: "lets a parked aggregate go on behind the event", ArgsUsage: "AID", Description: aboutSkip,
				Flags: []cli.Flag{
					tenantFlag, of,
					&cli.StringFlag{Name: "reason", Usage: "why the event is left out; it is kept", Required: true},
					&cli.StringFlag{Name: "by", Usage: "who says so; without it, who is logged in here (USER)"},
					jsonFlag,
				},
				Action: o.skipLetter,
			},
		},
	}
}

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
	Event      any       `json:"event,omitempty"` // JSON where it is some, text where not
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

func (o *operator) listLetters(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 0 {
		return wrong(cmd, "it takes no argument")
	}
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if cmd.Bool("skipped") {
		return o.listSkips(ctx, cmd, db)
	}
	letters, err := projectionstore.Letters(ctx, db)
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	shown := []shownLetter{}
	for _, letter := range letters {
		shown = append(shown, letterOf(letter.Projection, letter.DeadLetter))
	}
	if cmd.Bool(jsonFlag.Name) {
		err = o.printJSON(map[string]any{"parked": shown})
	} else {
		for _, letter := range shown {
			o.sayLetter(letter)
			fmt.Fprintf(o.stdout, "  next      `dead-letters show %s` tells the event; `retry` it once its reason is gone, or `skip` it\n", letter.AID)
		}
		_, err = fmt.Fprintf(o.stdout, "%d aggregates are parked\n", len(shown))
	}
	if err == nil && len(shown) > 0 {
		return errFound
	}
	return err
}

// shownSkip is a skipped event for people and programs.
type shownSkip struct {
	Projection string    `json:"projection"`
	Tenant     string    `json:"tenant"`
	AID        string    `json:"aid"`
	SeqNr      uint64    `json:"seq_nr"`
	EventID    string    `json:"event_id"`
	Cause      string    `json:"cause"`
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
}

const maxSkips = 1000 // that are listed

func (o *operator) listSkips(ctx context.Context, cmd *cli.Command, db *sqlx.DB) error {
	skips, err := projectionstore.Skips(ctx, db, maxSkips)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown := []shownSkip{}
	for _, s := range skips {
		shown = append(shown, shownSkip{s.Projection, s.Key.Tenant.String(), s.Key.String(), s.SeqNr, s.EventID, s.Cause, s.Reason, s.By, s.At})
	}
	if cmd.Bool(jsonFlag.Name) {
		return o.printJSON(map[string]any{"skipped": shown})
	}
	for _, s := range shown {
		fmt.Fprintf(o.stdout, "%s: event %d was left out of the projection %s by %s at %s\n  reason    %s\n  cause     %s\n",
			whose(s.Tenant, s.AID), s.SeqNr, s.Projection, s.By, s.At.Format(time.RFC3339), s.Reason, s.Cause)
	}
	_, err = fmt.Fprintf(o.stdout, "%d events were skipped\n", len(shown))
	return err
}

// parked is an aggregate's dead letter and where it is kept.
type parked struct {
	id     eventstore.AggregateID
	key    usecase.Key
	store  *projectionstore.Store
	letter projection.DeadLetter
}

func findLetter(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (found parked, err error) {
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

func (o *operator) showLetter(ctx context.Context, cmd *cli.Command) error {
	if _, err := aggregateOf(cmd); err != nil {
		return err
	}
	settings, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
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
		err = o.printJSON(letter)
	} else {
		o.sayLetter(letter)
		event, _ := indent("  ", letter.Event) // it is JSON or a text
		_, err = fmt.Fprintf(o.stdout, "  event     %s\n", event)
	}
	if err == nil {
		return errFound
	}
	return err
}

// payloadOf is the event as it stands in the journal.
func (o *operator) payloadOf(ctx context.Context, settings rowSettings, found parked) ([]byte, error) {
	s, closing, err := openStore(ctx, settings.settings, settings.logging.Logger(o.stderr))
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

func (o *operator) retryLetter(ctx context.Context, cmd *cli.Command) error {
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var due []parked
	if cmd.NArg() > 0 {
		one, err := findLetter(ctx, cmd, db)
		if err != nil {
			return err
		}
		due = []parked{one}
	} else if due, err = allOf(ctx, cmd, db); err != nil {
		return err
	}
	for _, one := range due {
		if err := one.store.Retry(ctx, one.key, time.Now()); err != nil && !errors.Is(err, projectionstore.ErrNotParked) {
			return err
		}
	}
	return o.outcome(ctx, cmd, due)
}

// allOf are the parked aggregates of the projection.
func allOf(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (due []parked, err error) {
	name := cmd.String("projection")
	store, err := projectionstore.New(db, name)
	if err != nil {
		return nil, err
	}
	letters, err := projectionstore.Letters(ctx, db)
	for _, letter := range letters {
		key := letter.Key
		if letter.Projection == name && (!cmd.IsSet(tenantFlag.Name) || key.Tenant.String() == cmd.String(tenantFlag.Name)) {
			id := eventstore.AggregateID{Tenant: key.Tenant.String(), Type: key.Type, ULID: key.ID}
			due = append(due, parked{id, key, store, letter.DeadLetter})
		}
	}
	return due, err
}

func (o *operator) skipLetter(ctx context.Context, cmd *cli.Command) error {
	by := cmd.String("by")
	if by == "" {
		by = o.getenv("USER")
	}
	if by == "" || cmd.String("reason") == "" {
		return wrong(cmd, "say with --reason why, and with --by who says so")
	}
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	found, err := findLetter(ctx, cmd, db)
	if err != nil {
		return err
	}
	if err := found.store.SkipEvent(ctx, found.key, found.letter.SeqNr, cmd.String("reason"), by, time.Now()); err != nil {
		return err
	}
	return o.outcome(ctx, cmd, []parked{found})
}

// result is what has become of a parked aggregate.
type result struct {
	Tenant string `json:"tenant"`
	AID    string `json:"aid"`
	Parked bool   `json:"parked"`
	SeqNr  uint64 `json:"seq_nr,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"next,omitempty"`
}

// outcome waits for the projection to try, and tells what has become of them.
func (o *operator) outcome(ctx context.Context, cmd *cli.Command, due []parked) error {
	deadline := time.Now().Add(outcomeWithin)
	results, still := []result{}, 0
	for _, one := range due {
		found, err := await(ctx, one, deadline)
		if err != nil {
			return err
		}
		results = append(results, found)
		if found.Parked {
			still++
		}
	}
	var err error
	if cmd.Bool(jsonFlag.Name) {
		err = o.printJSON(map[string]any{"aggregates": results, "parked": still})
	} else {
		for _, found := range results {
			if !found.Parked {
				fmt.Fprintf(o.stdout, "%s goes on\n", whose(found.Tenant, found.AID))
				continue
			}
			fmt.Fprintf(o.stdout, "%s is parked on event %d\n  reason    %s\n  next      %s\n", whose(found.Tenant, found.AID), found.SeqNr, found.Reason, found.Next)
		}
	}
	if err == nil && still > 0 {
		return errFound
	}
	return err
}

const pollEvery = 100 * time.Millisecond

// await looks until the aggregate goes on, or has been tried twice more, or time is up. Twice, because the first try
// may have begun before the reason was gone.
func await(ctx context.Context, one parked, deadline time.Time) (result, error) {
	found := result{Tenant: one.id.Tenant, AID: one.id.String(), Next: "it is due, and nobody has tried it yet: is the program of this projection running?"}
	before, tries := one.letter, 0
	for {
		letter, isParked, err := one.store.Letter(ctx, one.key)
		if err != nil || !isParked {
			return result{Tenant: found.Tenant, AID: found.AID}, err
		}
		found.Parked, found.SeqNr, found.Reason = true, letter.SeqNr, letter.Reason
		if letter.Attempts != before.Attempts || letter.SeqNr != before.SeqNr {
			before, found.Next = letter, "mend the reason and retry, or skip the event"
			if tries++; tries == 2 {
				return found, nil
			}
			if err := one.store.Retry(ctx, one.key, time.Now()); err != nil && !errors.Is(err, projectionstore.ErrNotParked) {
				return found, err
			}
		}
		if time.Now().After(deadline) {
			return found, nil
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}
