// extra:chat

package browser

import (
	"crypto/rand"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// The page of four programs on DynamoDB and MySQL, whose events come without an order over all aggregates.
func TestThePageOnDynamoDB(t *testing.T) {
	t.Parallel()
	p := open(t, chromium(t), startOnDynamoDB(t), 1440, 1100)
	begin(p)
	says(p, ada, "Ada", "Is anybody there?")
	p.shows(bob, "Is anybody there?")
	p.shows(everything, "Tea at four 3 message posted")
	p.shows(everything, "all in the rows")
	p.shows(theMap, "journal 3, projection 3: no distance")

	// What is looked for is found in the journal, and goes on with what comes.
	p.click(labelled("document", "Events"))
	events := within("All events")
	p.shows(events, "Is anybody there?")
	p.fill(labelled(events, "Person"), "bob\r")
	p.shows(events, "1 event is shown, that is all")
	p.showsNot(events, "Is anybody there?")
	p.click(labelled("document", "Chat"))
	says(p, bob, "Bob", "I am")
	p.shows(ada, "I am")
	p.click(labelled("document", "Events"))
	p.shows(events, "I am")
	p.click("[..." + events + ".querySelectorAll('tbody button')].find((each) => each.innerText.includes('I am'))")
	p.shows(openEvent, "Bob said “I am”")
	p.accessible("an event on DynamoDB")
	p.screenshot("dynamodb")
}

// startOnDynamoDB starts the programs on tables and a database of their own, and returns the address of the page.
func startOnDynamoDB(t *testing.T) string {
	t.Helper()
	endpoint, server := os.Getenv("TEST_DYNAMODB_ENDPOINT"), os.Getenv("TEST_MYSQL_DSN")
	if endpoint == "" || server == "" {
		t.Fatal("this test needs DynamoDB Local and MySQL or MariaDB, which make test-clients starts")
	}
	if err := build("./cmd/write-api", "./cmd/read-model-updater", "./cmd/read-api", "./cmd/web", "./tools/dynamodb-setup", "./rdb-migration/cmd/migrate"); err != nil {
		t.Fatal(err)
	}
	write, read, updater, page := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	// In DynamoDB Local each access key has tables of its own.
	env := []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=browser" + rand.Text(), "AWS_SECRET_ACCESS_KEY=local",
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + endpoint, "DATABASE_URL=" + newDatabase(t, server),
		"WRITE_API_ADDR=" + write, "READ_API_ADDR=" + read, "UPDATER_ADDR=" + updater, "WEB_ADDR=" + page,
		"WRITE_API_URL=http://" + write, "READ_API_URL=http://" + read, "UPDATER_URL=http://" + updater,
	}
	for _, args := range [][]string{{"dynamodb-setup"}, {"migrate", "up"}} {
		setup := exec.CommandContext(t.Context(), filepath.Join(binaries, args[0]), args[1:]...)
		setup.Env = env
		if output, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
		}
	}
	for _, name := range []string{"write-api", "read-model-updater", "read-api"} {
		run(t, name, "", nil, env)
	}
	return run(t, "web", page, allReady, env).url
}

// newDatabase returns the DSN of a database that is dropped after the test.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	config, err := mysql.ParseDSN(server)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", server)
	if err != nil {
		t.Fatal(err)
	}
	config.DBName = "browser" + strings.ToLower(rand.Text())
	administer := func(statement string) {
		if _, err := db.Exec(statement + config.DBName); err != nil { //nolint:noctx // also after the test's context has ended
			t.Error(err)
		}
	}
	administer("CREATE DATABASE ")
	t.Cleanup(func() {
		administer("DROP DATABASE ")
		_ = db.Close()
	})
	return config.FormatDSN()
}
