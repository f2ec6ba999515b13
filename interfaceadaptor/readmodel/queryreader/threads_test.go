package queryreader_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/es/database"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// threadRow is a thread in the database with its members.
type threadRow struct {
	tenant  string
	id      thread.ID
	at      int64 // the time of the last change
	deleted bool
	members []thread.UserID
	left    []thread.UserID
}

// insert inserts threads in few statements.
func insert(t *testing.T, db *readmodeltest.Database, threads []threadRow) {
	t.Helper()
	for some := range slices.Chunk(threads, 500) {
		var rows, memberships []string
		for _, row := range some {
			rows = append(rows, fmt.Sprintf("('%s', '%s', 'chat', '%s', 1, %d, 1, %d)", row.tenant, row.id, row.id, boolean(row.deleted), row.at))
			for i, user := range append(slices.Clone(row.members), row.left...) {
				memberships = append(memberships, fmt.Sprintf("('%s', '%s', '%s', '%s', 'Member', 1, %d, 1, 1)",
					row.tenant, kit.NewID[thread.Member](), row.id, user, boolean(i >= len(row.members))))
			}
		}
		for _, statement := range []string{
			`INSERT INTO threads (tenant_code, id, name, owner_id, version, deleted, created_at, updated_at) VALUES ` + strings.Join(rows, ", "),
			`INSERT INTO members (tenant_code, id, thread_id, user_account_id, role, joined_seq, removed, created_at, updated_at) VALUES ` + strings.Join(memberships, ", "),
		} {
			if _, err := db.DB.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

// positionsFor returns the positions of a viewer's list.
func positionsFor(viewer query.Viewer, threads []threadRow) (list []query.Position) {
	for _, row := range threads {
		if row.tenant == viewer.Tenant.String() && !row.deleted && slices.Contains(row.members, viewer.User) {
			list = append(list, query.Position{At: row.at, ID: row.id.String()})
		}
	}
	slices.SortFunc(list, func(a, b query.Position) int { return -comparePositions(a, b) })
	return list
}

func comparePositions(a, b query.Position) int {
	if a.At != b.At {
		return int(a.At - b.At)
	}
	return strings.Compare(a.ID, b.ID)
}

// expectPage compares a page of a viewer's threads with the expected one, and returns the number of statements.
func expectPage(t *testing.T, db *readmodeltest.Database, viewer query.Viewer, asked query.Range, list []query.Position) int64 {
	t.Helper()
	from, to := 0, len(list)
	if !asked.After.IsZero() {
		from = len(slices.DeleteFunc(slices.Clone(list), func(p query.Position) bool { return comparePositions(p, asked.After) < 0 }))
	}
	if !asked.Before.IsZero() {
		to = max(from, len(slices.DeleteFunc(slices.Clone(list), func(p query.Position) bool { return comparePositions(p, asked.Before) <= 0 })))
	}
	previous, next := !asked.After.IsZero(), !asked.Before.IsZero()
	if asked.Backward && to-from > asked.Limit {
		from, previous = to-asked.Limit, true
	} else if to-from > asked.Limit {
		to, next = from+asked.Limit, true
	}
	before := db.Statements()
	page, err := readmodeltest.NewReader(t, db.Counted).Threads(t.Context(), viewer, asked)
	if err != nil {
		t.Fatalf("%+v: %v", asked, err)
	}
	var got []query.Position
	for _, found := range page.Items {
		got = append(got, found.Position())
	}
	if !slices.Equal(got, list[from:to]) || page.HasPrevious != previous || page.HasNext != next {
		t.Errorf("%+v: %d threads, previous %v, next %v; want %d from %d on, %v, %v", asked, len(got), page.HasPrevious, page.HasNext, to-from, from, previous, next)
	}
	return db.Statements() - before
}

// manyThreads returns threads of a tenant. bob has so many of those changed last that walking along the index is
// cheaper than sorting; alice has as many, but others changed later. Threads that no viewer may see are between them.
func manyThreads(alice, bob, carol thread.UserID) (threads []threadRow) {
	add := func(at int64, row threadRow) {
		row.id, row.at = kit.NewID[thread.Thread](), at
		if row.tenant == "" {
			row.tenant = "acme"
		}
		threads = append(threads, row)
	}
	for i := range int64(2500) {
		at := 10_000 + i/3 // three threads change in the same microsecond
		add(at, threadRow{members: []thread.UserID{bob}, left: []thread.UserID{alice}})
		switch i % 500 {
		case 0:
			add(at, threadRow{members: []thread.UserID{bob, alice}, deleted: true})
		case 1:
			add(at, threadRow{tenant: "globex", members: []thread.UserID{alice, bob, carol}})
		}
	}
	for i := range int64(2001) {
		members := []thread.UserID{alice}
		if i > 1 {
			members = append(members, carol) // one less than many
		}
		add(i/2, threadRow{members: members})
	}
	return threads
}

func TestTheThreadsOfAViewerWithMany(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		alice, bob, carol := readmodeltest.NewUser(), readmodeltest.NewUser(), readmodeltest.NewUser()
		threads := manyThreads(alice, bob, carol)
		insert(t, db, threads)
		const sorted, walkedTo, walkedInVain = 1, 3, 4 // statements
		for _, c := range []struct {
			name                string
			user                thread.UserID
			first, middle, last int64 // numbers of statements
		}{
			{"carol, who has few", carol, sorted, sorted, sorted},
			{"bob, whose threads changed last", bob, walkedTo, walkedTo, walkedInVain},
			{"alice, whose threads changed first", alice, walkedInVain, walkedTo, walkedTo},
		} {
			t.Run(c.name, func(t *testing.T) {
				viewer := query.Viewer{Tenant: db.World(t, "acme").Tenant, User: c.user}
				list := positionsFor(viewer, threads)
				end := len(list) - 1
				if spent := expectPage(t, db, viewer, query.Range{Limit: 50}, list); spent != c.first {
					t.Errorf("%d statements for the first page, want %d", spent, c.first)
				}
				if spent := expectPage(t, db, viewer, query.Range{After: list[end/2], Limit: 50}, list); spent != c.middle {
					t.Errorf("%d statements for a page in the middle, want %d", spent, c.middle)
				}
				if spent := expectPage(t, db, viewer, query.Range{Limit: 50, Backward: true}, list); spent != c.last {
					t.Errorf("%d statements for the last page, want %d", spent, c.last)
				}
				for _, asked := range []query.Range{
					{After: list[0]}, {After: list[1], Before: list[3]}, {Before: list[0]}, {After: list[end]}, {Before: list[end]},
					{After: list[end-1]}, {After: list[end-50]}, {After: list[end-51]}, {After: list[99], Before: list[150]}, {After: list[99], Before: list[151]},
					{After: query.Position{At: math.MaxInt32, ID: "Z"}}, {Before: query.Position{At: -1, ID: "0"}}, {After: list[10], Before: list[5]},
				} {
					for _, asked.Limit = range []int{1, 50} {
						for _, asked.Backward = range []bool{false, true} {
							if spent := expectPage(t, db, viewer, asked, list); spent > walkedInVain {
								t.Errorf("%+v: %d statements", asked, spent)
							}
						}
					}
				}
			})
		}
	})
}

// TestAPageOfManyThreadsIsNotSorted counts the rows that the server reads. MySQL and MariaDB report that.
func TestAPageOfManyThreadsIsNotSorted(t *testing.T) {
	db := readmodeltest.MySQL(t)
	alice, few := readmodeltest.NewUser(), readmodeltest.NewUser()
	threads := make([]threadRow, 8000)
	for i := range threads {
		threads[i] = threadRow{tenant: "acme", id: kit.NewID[thread.Thread](), at: int64(i), members: []thread.UserID{alice}}
		if i%1000 == 0 {
			threads[i].members = append(threads[i].members, few)
		}
	}
	insert(t, db, threads)
	if _, err := db.DB.ExecContext(t.Context(), "ANALYZE TABLE threads, members"); err != nil {
		t.Fatal(err)
	}
	single, err := database.Open(t.Context(), db.URL, database.Settings{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = single.Close() }()
	reader := readmodeltest.NewReader(t, single)
	middle := query.Position{At: 4000, ID: threads[4000].id.String()}
	for _, c := range []struct {
		user  thread.UserID
		asked query.Range
		most  int64
	}{
		// Each part of a page counts 2000 memberships twice and passes 2000 threads. A server reads counted rows again
		// from a temporary table. Sorting 8000 threads would read three times as many rows.
		{alice, query.Range{}, 14_000},
		{alice, query.Range{Backward: true}, 14_000},
		{alice, query.Range{After: middle}, 20_000},
		{few, query.Range{}, 200},
		{few, query.Range{After: middle}, 200},
	} {
		c.asked.Limit = 50
		before := touched(t, single)
		if _, err := reader.Threads(t.Context(), query.Viewer{Tenant: db.World(t, "acme").Tenant, User: c.user}, c.asked); err != nil {
			t.Fatal(err)
		}
		rows := touched(t, single) - before
		t.Logf("%+v: %d rows", c.asked, rows)
		if rows > c.most {
			t.Errorf("%+v: %d rows, at most %d are needed", c.asked, rows, c.most)
		}
	}
}
