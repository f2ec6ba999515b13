// Package stores reads where the data is: the settings that the servers share with the migrations and the set-up of the
// tables.
package stores

import (
	"fmt"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/database"
)

// The kinds of event stores. The relational ones are called as their drivers.
const (
	DynamoDB = "dynamodb"
	MySQL    = database.MySQL // MariaDB, too
	SQLite   = database.SQLite
)

// ReadDatabaseURL reads the URL of the read model's database. What can never be opened is told now; whether the database is
// there is found out later.
func ReadDatabaseURL(r *config.Reader) string {
	const help = "database of the read model: user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db"
	return r.Secret("DATABASE_URL", help, func(url string) error {
		_, err := database.DriverOf(url)
		return err
	})
}

// ReadEventStore reads the kind of the event store and, of a relational one, the URL of its database.
func ReadEventStore(r *config.Reader) (kind, url string) {
	kind = r.OneOf("EVENT_STORE", "kind of the event store", DynamoDB, MySQL, SQLite)
	const help = "with mysql or sqlite, where it has to be set: user:password@tcp(host:3306)/threads or sqlite:data/events.db"
	url = r.Secret("EVENT_STORE_URL", help, func(url string) error {
		if kind == DynamoDB {
			return nil // it needs none
		}
		driver, err := database.DriverOf(url)
		if err == nil && driver != kind {
			err = fmt.Errorf("it is of %s", driver)
		}
		return err
	})
	return kind, url
}

// Tables are the names of the DynamoDB tables.
type Tables struct{ Journal, Snapshot string }

// ReadTables reads the names. What the AWS SDK reads by itself to find the tables is told and checked here.
func ReadTables(r *config.Reader) Tables {
	const journal, snapshot = "JOURNAL_TABLE", "SNAPSHOT_TABLE"
	tables := Tables{
		Journal:  r.String(journal, "journal", "DynamoDB table of events"),
		Snapshot: r.String(snapshot, "snapshot", "DynamoDB table of heads, snapshots and receipts"),
	}
	if tables.Journal == tables.Snapshot {
		r.Wrong(fmt.Sprintf("%s and %s are both %q; they must be two tables", journal, snapshot, tables.Journal))
	}
	r.String("AWS_REGION", "", "region of the tables, unless the AWS SDK's files name it; credentials are in the SDK's own variables")
	r.URL("AWS_ENDPOINT_URL_DYNAMODB", "where DynamoDB is, when not on AWS, such as http://127.0.0.1:8000")
	return tables
}
