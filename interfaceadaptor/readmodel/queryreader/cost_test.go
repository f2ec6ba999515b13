package queryreader_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/thread"
	"example.com/threads/es/database"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// TestAPageReadsWhatItReturns counts the rows that the server reads for a page, at the ends and in the middle of a long
// list. MySQL and MariaDB report that; SQLite does not.
func TestAPageReadsWhatItReturns(t *testing.T) {
	db := readmodeltest.MySQL(t)
	w := db.World(t, "acme")
	alice := readmodeltest.NewUser()
	chat := w.Thread("long", alice)
	const messages, page = 4000, 20
	values := make([]string, messages)
	for i := range values {
		values[i] = fmt.Sprintf("('acme', '%s', '%s', '%s', 'hello', %d, 0, 1, 1)", kit.NewID[thread.Message](), chat, alice, i+2)
	}
	for _, statement := range []string{
		`INSERT INTO messages (tenant_code, id, thread_id, user_account_id, text, seq_nr, deleted, created_at, updated_at) VALUES ` + strings.Join(values, ", "),
		`ANALYZE TABLE messages`,
	} {
		if _, err := db.DB.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	// The counters belong to a connection, so there must be only one.
	single, err := database.Open(t.Context(), db.URL, database.Settings{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = single.Close() }()
	reader := readmodeltest.NewReader(t, single)
	idle := -touched(t, single) + touched(t, single) // the cost of reading the counters
	at := func(seq int64) query.Position {
		return query.Position{At: seq, ID: kit.NewID[thread.Message]().String()}
	}
	for _, asked := range []query.Range{
		{}, {Backward: true},
		{After: at(100)}, {After: at(messages / 2)}, {After: at(messages - 100)},
		{Before: at(100), Backward: true}, {Before: at(messages / 2), Backward: true}, {Before: at(messages - 100), Backward: true},
		{After: at(100), Before: at(messages - 100)}, {After: at(100), Before: at(messages - 100), Backward: true},
	} {
		asked.Limit = page
		before := touched(t, single)
		pages, err := reader.Messages(t.Context(), w.Tenant, []thread.ID{chat}, asked)
		if err != nil || len(pages[chat].Items) != page {
			t.Fatalf("%+v: %d messages, %v", asked, len(pages[chat].Items), err)
		}
		// Each row is read from the index and once more from the derived table of its part, plus a few rows at the
		// bounds.
		if rows := touched(t, single) - before - idle; rows > 2*(page+1)+20 {
			t.Errorf("%+v: %d rows for a page of %d", asked, rows, page)
		}
	}
}

// touched returns the number of rows that the server has read for the only connection of a pool.
func touched(t *testing.T, single *sqlx.DB) (rows int64) {
	t.Helper()
	var counters []struct {
		Name  string `db:"Variable_name"`
		Value int64  `db:"Value"`
	}
	if err := single.SelectContext(t.Context(), &counters, `SHOW SESSION STATUS LIKE 'Handler\_read\_%'`); err != nil {
		t.Fatal(err)
	}
	for _, counter := range counters {
		rows += counter.Value
	}
	return rows
}
