package es_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/notebook"
)

// logging is a service with its log and metrics.
func logging(t *testing.T, gateway es.EventPersistenceGateway, settings es.Settings) (*notebook.Service, *bytes.Buffer, *es.Metrics) {
	t.Helper()
	var log bytes.Buffer
	settings.Logger, settings.Metrics = slog.New(slog.NewTextHandler(&log, nil)), es.NewMetrics()
	service := es.NewService(notebook.Aggregate(), gateway, settings)
	t.Cleanup(func() { _ = service.Close(t.Context()) })
	return service, &log, settings.Metrics
}

// changeHead overwrites the head's version; 0: as if there was none.
func changeHead(t *testing.T, gateway *dynamodb.Gateway, id string, version uint64) {
	t.Helper()
	key := es.AggregateID{Type: notebook.Type, ID: id}
	found, err := gateway.StoredHead(t.Context(), key)
	if err == nil {
		err = gateway.ReplaceHead(t.Context(), key, found, es.Head{Version: version})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A head that contradicts its journal needs an operator. It must not look like a conflict or like a missing aggregate.
func TestAHeadThatContradictsItsJournal(t *testing.T) {
	for version, names := range map[uint64]string{
		2: "says version 2, but the journal has event 3", 0: "says version 0, but the journal has event 1", 5: "says version 5, but the journal lacks event 4",
	} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			gateway := dynamodbtest.New(t)
			before, _ := process(t, gateway)
			id := open(t, before)
			accepted(t, before, request(ada, id, say(ada, "two")))
			accepted(t, before, request(ada, id, say(ada, "three")))
			changeHead(t, gateway, id, version)

			service, log, metrics := logging(t, gateway, es.Settings{})
			if _, err := service.Handle(t.Context(), request(ada, id, say(ada, "four"))); es.KindOf(err) != es.Inconsistent {
				t.Errorf("a command: %v", err)
			}
			text := log.String()
			counted := measuredOf(t, metrics, "commands_inconsistent_total")
			if counted != 1 || !strings.Contains(text, "level=ERROR") || !strings.Contains(text, names) ||
				!strings.Contains(text, "aggregate=notebook-"+id) {
				t.Errorf("counted %v, logged %s", counted, text)
			}
			if version != 2 { // a head at another version can't be loaded
				if _, err := service.Snapshot(t.Context(), es.Caller{}, id); es.KindOf(err) != es.Inconsistent {
					t.Errorf("a snapshot: %v", err)
				}
			}
			// A process with the aggregate in its cache must find out, too.
			if version == 2 {
				if _, err := before.Handle(t.Context(), request(ada, id, say(ada, "four"))); es.KindOf(err) != es.Inconsistent {
					t.Errorf("a command: %v", err)
				}
			}
		})
	}
}

// The state at the head's version is in the snapshot table: nothing of the journal is needed for a command.
func TestAHeadWithoutItsEvent(t *testing.T) {
	w := openWarehouse(t.Context())
	defer w.close()
	w.move(t.Context(), bolts, 1)
	w.store.DB.MustExecContext(t.Context(), "DELETE FROM events")
	another := es.NewService(shelves, w.store, es.Settings{})
	defer func() { _ = another.Close(t.Context()) }()
	_, err := another.Handle(t.Context(), es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{1}})
	if es.KindOf(err) != es.Inconsistent {
		t.Errorf("a command: %v", err)
	}
}

// No event may be written with an impossible or unreadable time.
func TestAClockThatCannotBeRight(t *testing.T) {
	gateway := dynamodbtest.New(t)
	right, _ := process(t, gateway)
	id := open(t, right)
	showing := func(at time.Time) es.Settings { return es.Settings{Clock: func() time.Time { return at }} }
	for about, settings := range map[string]es.Settings{
		"before 1970": showing(time.Unix(-1000, 0)), "1970": showing(time.Unix(0, 0)),
		"before 2020":  showing(time.Date(2019, 12, 31, 0, 0, 0, 0, time.UTC)),
		"12000":        showing(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)),
		"out of place": {CheckClock: func(context.Context) error { return errors.New("the clock is an hour ahead") }},
	} {
		service, log, _ := logging(t, gateway, settings)
		for _, r := range []notebookRequest{request(ada, id, say(ada, "hello")), request(ada, "", notebook.Open{By: ada, Title: "tea"})} {
			if _, err := service.Handle(t.Context(), r); es.KindOf(err) != es.Unavailable {
				t.Errorf("%s: %s: got %v", about, r.Name, err)
			}
		}
		if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "clock") {
			t.Errorf("%s: logged %s", about, log.String())
		}
	}
	if result := accepted(t, right, request(ada, id, say(ada, "hello"))); result.Version != 2 {
		t.Errorf("version %d", result.Version)
	}
}
