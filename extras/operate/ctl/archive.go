package ctl

import (
	"context"
	"errors"
	"os"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/archive"
	"example.com/threads/extras/operate"
)

type move struct {
	some
	Before time.Time `required:"" format:"2006-01-02" placeholder:"2024-01-31" help:"the day; earlier events are archived"`
	Remove bool      `help:"remove from the journal what the archive has, once it was compared"`
}

func (move) Help() string {
	return `Copies the events of one aggregate, or of all, from before a day (in UTC) to files below ARCHIVE_DIR. With
--remove, they are removed from the journal, if they are a day old and the files have them as the journal has them: set
ARCHIVE_DIR for all programs before, as they read removed events there. The last event of an aggregate always stays. It
may run beside the programs, and again after it was interrupted.`
}

// moved is what was done to an aggregate, or why it failed.
type moved struct {
	operate.Named
	Error string `json:"error"`
}

func (cmd *move) Run(ctx context.Context, c *call) error {
	behind, is := c.store.Gateway.(*archive.Store)
	if !is {
		return errors.New("ARCHIVE_DIR is not set: name the folder for the archive, which all programs can read")
	}
	aggregates, copied, removed, failed := 0, 0, 0, 0
	err := c.each(ctx, cmd.aggregates, func(_ es.AnyAggregate, head es.StoredAggregate) error {
		n, err := behind.Archive(ctx, head.ID, cmd.Before)
		aggregates, copied, n = aggregates+1, copied+n, 0
		if err == nil && cmd.Remove {
			n, err = behind.Remove(ctx, head.ID, cmd.Before)
		}
		removed += n
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed++
			err = c.add("failures", moved{operate.Name(head.ID), err.Error()})
		}
		c.tell("%d aggregates, %d events copied, %d removed", aggregates, copied, removed)
		return err
	})
	if err != nil {
		return err
	}
	return c.end(failed == 0, "failures", map[string]any{"aggregates": aggregates, "copied": copied, "removed": removed, "failed": failed})
}

// exported returns the journal whose events are read from an export.
func (c *call) exported(folder string) (es.Journal, error) {
	gateway := c.store.Gateway
	if behind, is := gateway.(*archive.Store); is {
		gateway = behind.Store
	}
	placed, is := gateway.(interface {
		Place(pkey, skey string) (es.AggregateID, uint64, error)
	})
	if !is {
		return nil, errors.New("--export is of a table of DynamoDB, and EVENT_STORE is another store")
	}
	return archive.Export{Journal: c.store.Gateway, Files: os.DirFS(folder), Place: placed.Place}, nil
}
