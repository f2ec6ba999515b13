package testenv_test

import (
	"database/sql"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"example.com/threads/es/estest/testenv"
)

func TestDynamoDBConfigReachesBothServices(t *testing.T) {
	cfg := testenv.DynamoDBConfig(t)
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Errorf("DynamoDB: %v", err)
	}
	if _, err := dynamodbstreams.NewFromConfig(cfg).ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{}); err != nil {
		t.Errorf("DynamoDB Streams: %v", err)
	}
}

func TestMySQLIsFreshAndDropped(t *testing.T) {
	var first string
	t.Run("in use", func(t *testing.T) {
		first = testenv.MySQL(t)
		db := open(t, first)
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE smile (face VARCHAR(8), at DATETIME(6))"); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2023, 6, 29, 3, 32, 37, 404481000, time.UTC)
		if _, err := db.ExecContext(t.Context(), "INSERT INTO smile VALUES (?, ?)", "😀", at); err != nil {
			t.Fatal(err)
		}
		var face string
		var got time.Time
		if err := db.QueryRowContext(t.Context(), "SELECT face, at FROM smile").Scan(&face, &got); err != nil {
			t.Fatal(err)
		}
		if face != "😀" || !got.Equal(at) {
			t.Errorf("read back %q at %s", face, got)
		}
	})

	second := testenv.MySQL(t)
	if first == second {
		t.Fatalf("both tests got %s", first)
	}
	var tables int
	query := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"
	if err := open(t, second).QueryRowContext(t.Context(), query).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Errorf("a fresh database has %d tables", tables)
	}
	if err := open(t, first).PingContext(t.Context()); err == nil {
		t.Error("the database of the test that ended is still there")
	}
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestUniqueName(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z][a-z0-9_]{2,63}$`)
	t.Run(strings.Repeat("Ünïcode / and 長い names ", 9), func(t *testing.T) {
		one, two := testenv.UniqueName(t), testenv.UniqueName(t)
		if one == two {
			t.Errorf("twice the same name %s", one)
		}
		if !valid.MatchString(one) {
			t.Errorf("%q does not match %s", one, valid)
		}
	})
}

func TestFreePort(t *testing.T) {
	given := make(map[int]bool)
	for range 500 {
		port := testenv.FreePort(t)
		if port < 1024 || given[port] {
			t.Errorf("port %d", port)
		}
		given[port] = true
	}
}

func TestEventually(t *testing.T) {
	calls := 0
	testenv.Eventually(t, time.Second, func() error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}
