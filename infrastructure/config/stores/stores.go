// Package stores reads the settings of the databases, which the servers share with the migrations and the table setup.
package stores

import (
	"fmt"

	"example.com/threads/es/database"
	"example.com/threads/infrastructure/config"
)

// The kinds of event stores. The relational ones have the names of their drivers.
const (
	DynamoDB = "dynamodb"
	MySQL    = database.MySQL // also for MariaDB
	SQLite   = database.SQLite
)

// ReadDatabaseURL reads the URL of the read model's database. A malformed URL is a problem; the database itself is not
// contacted.
func ReadDatabaseURL(r *config.Reader) string {
	const help = "database of the read model: user:password@tcp(host:3306)/threads or sqlite:data/readmodel.db"
	return r.Secret("DATABASE_URL", help, func(url string) error {
		_, err := database.DriverOf(url)
		return err
	})
}

// ReadEventStore reads the kind of the event store and, for a relational one, the URL of its database.
func ReadEventStore(r *config.Reader) (kind, url string) {
	kind = r.OneOf("EVENT_STORE", "kind of the event store", DynamoDB, MySQL, SQLite)
	const help = "required with mysql or sqlite: user:password@tcp(host:3306)/threads or sqlite:data/events.db"
	url = r.Secret("EVENT_STORE_URL", help, func(url string) error {
		if kind == DynamoDB {
			return nil // DynamoDB needs no URL
		}
		driver, err := database.DriverOf(url)
		if err == nil && driver != kind {
			err = fmt.Errorf("it is a URL for %s", driver)
		}
		return err
	})
	return kind, url
}

// Tables are the names of the DynamoDB tables.
type Tables struct{ Journal, Snapshot string }

// ReadTables reads the names of the tables. It also declares and checks the variables that the AWS SDK reads by itself.
func ReadTables(r *config.Reader) Tables {
	const journal, snapshot = "JOURNAL_TABLE", "SNAPSHOT_TABLE"
	tables := Tables{
		Journal:  r.String(journal, "journal", "DynamoDB table of events"),
		Snapshot: r.String(snapshot, "snapshot", "DynamoDB table of heads, snapshots and receipts"),
	}
	if tables.Journal == tables.Snapshot {
		r.Wrong(fmt.Sprintf("%s and %s are both %q; they must be different tables", journal, snapshot, tables.Journal))
	}
	r.String("AWS_REGION", "", "region of the tables, unless the AWS SDK's files name it; credentials are in the SDK's own variables")
	r.URL("AWS_ENDPOINT_URL_DYNAMODB", "endpoint of DynamoDB if it is not on AWS, such as http://127.0.0.1:8000")
	return tables
}
