package es_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// changeHead overwrites the head's version in the table; 0 deletes the head.
func changeHead(t *testing.T, tables dynamodb.Settings, client *sdk.Client, id string, version string) {
	t.Helper()
	pages := sdk.NewScanPaginator(client, &sdk.ScanInput{TableName: aws.String(tables.SnapshotTable)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if skey, is := item["skey"].(*types.AttributeValueMemberS); !is || skey.Value != "notebook-"+id+"-0" {
				continue
			}
			if version == "0" {
				_, err = client.DeleteItem(t.Context(), &sdk.DeleteItemInput{
					TableName: aws.String(tables.SnapshotTable), Key: map[string]types.AttributeValue{"pkey": item["pkey"], "skey": item["skey"]},
				})
			} else {
				item["version"] = &types.AttributeValueMemberN{Value: version}
				_, err = client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(tables.SnapshotTable), Item: item})
			}
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("there is no head")
}

// A head that contradicts its journal needs an operator. It must not look like a conflict or like a missing aggregate.
func TestAHeadThatContradictsItsJournal(t *testing.T) {
	for version, names := range map[string]string{"2": "says version 2, but the journal has event 3", "0": "says version 0, but the journal has event 1", "5": "says version 5, but the journal lacks event 4"} {
		t.Run("version "+version, func(t *testing.T) {
			tables, client := dynamodbtest.Tables(t)
			gateway := dynamodbtest.Open(t, tables)
			before, _ := process(t, gateway)
			id := open(t, before)
			accepted(t, before, request(ada, id, say(ada, "two")))
			accepted(t, before, request(ada, id, say(ada, "three")))
			changeHead(t, tables, client, id, version)

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
			if version != "2" { // a head at another version can't be loaded
				if _, err := service.Snapshot(t.Context(), es.Caller{}, id); es.KindOf(err) != es.Inconsistent {
					t.Errorf("a snapshot: %v", err)
				}
			}
			// A process with the aggregate in its cache must find out, too.
			if version == "2" {
				if _, err := before.Handle(t.Context(), request(ada, id, say(ada, "four"))); es.KindOf(err) != es.Inconsistent {
					t.Errorf("a command: %v", err)
				}
			}
		})
	}
}

// The state at the head's version is in the snapshot table: nothing of the journal is needed for a command.
func TestAHeadWithoutItsEvent(t *testing.T) {
	tables, client := dynamodbtest.Tables(t)
	gateway := dynamodbtest.Open(t, tables)
	before, _ := process(t, gateway)
	id := open(t, before)
	all, err := client.Scan(t.Context(), &sdk.ScanInput{TableName: aws.String(tables.JournalTable)})
	if err != nil || len(all.Items) != 1 {
		t.Fatalf("%d events, %v", len(all.Items), err)
	}
	key := map[string]types.AttributeValue{"pkey": all.Items[0]["pkey"], "skey": all.Items[0]["skey"]}
	if _, err := client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: aws.String(tables.JournalTable), Key: key}); err != nil {
		t.Fatal(err)
	}
	service, _ := process(t, gateway)
	if _, err := service.Handle(t.Context(), request(ada, id, say(ada, "two"))); es.KindOf(err) != es.Inconsistent {
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
