package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// The rows of three tenants are in two databases, each on a server of its own, with an updater of its own. A server
// dies, an updater is killed, rows are rebuilt, and at last a tenant moves.
func TestTenantsInSeveralDatabases(t *testing.T) {
	startsPrograms(t)
	main, second := mariaDBs(t)
	second.promote(t)
	hook := newPublished(t)
	env := append(oneMySQL(t), "PUBLISH_URL="+hook.URL, "VERIFY_RATE=100")
	in := func(m *mariaDB, tenants string) []string {
		return append(slices.Clone(env), "DATABASE_URL="+urlAt(m.at()), "TENANT_DATABASES="+tenants+"="+urlAt(second.at()))
	}
	runOnce(t, "migrate", in(second, "acme"), "up")
	s := threePrograms(t, in(main, "acme"))
	own := programs.New(t, binaries, "read-model-updater", in(second, "acme"), "UPDATER_ADDR")
	own.Start(t)

	nobody, acme, globex := newTenant(t, s, ""), newTenant(t, s, "acme"), newTenant(t, s, "globex")
	all := []*tenant{nobody, acme, globex}
	for _, each := range all {
		t.Run("a subscription of "+each.ada.header["X-Tenant-Code"], func(t *testing.T) {
			sees := each.ada.follows(t, each.thread, token(each.last))
			each.goesOn(t)
			sees.reach(t, each.last.version())
		})
	}
	acme.leaves(t)
	globex.leaves(t)
	wantTenants(t, main, "", "globex")
	wantTenants(t, second, "acme")
	if code := globex.ada.refused(t, viewVersion, fields{"thread": acme.thread, "viewer": acme.ada.id}, token(acme.last)); code != "READ_MODEL_BEHIND" {
		t.Errorf("another tenant's token: %s", code)
	}
	hook.wantEach(t, env, true)
	wantClean := func(tenants string, of ...*mariaDB) {
		t.Helper()
		for _, m := range of {
			(&system{store: in(m, tenants)}).operate(t, allIsWell, "rows", "verify")
		}
	}
	wantClean("acme", main, second)

	// An updater is killed: the other one goes on, and nothing is missing when it is back.
	own.Kill(t)
	for range 5 {
		acme.post(t)
		nobody.goesOn(t)
		globex.goesOn(t)
	}
	if code := acme.ada.refused(t, viewVersion, acme.asked(), token(acme.last)); code != "READ_MODEL_BEHIND" {
		t.Errorf("without an updater: %s", code)
	}
	own.Start(t)
	acme.goesOn(t)

	// A server dies, and then the other one; read-api starts meanwhile.
	second.kill(t)
	for _, with := range [][]string{nil, {token(acme.last)}} {
		if code := acme.ada.refused(t, viewVersion, acme.asked(), with...); code != "UNAVAILABLE" {
			t.Errorf("without a database, with the tokens %q: %s", with, code)
		}
	}
	nobody.goesOn(t)
	globex.goesOn(t)
	s.reader.Stop(t)
	s.reader.Start(t)
	nobody.goesOn(t)
	if health := get(t, s.readURL+"/health/ready"); !strings.Contains(health, `"ready"`) ||
		!strings.Contains(health, "a database of TENANT_DATABASES") || strings.Contains(health, "acme") || strings.Contains(health, "threads:threads") {
		t.Errorf("without a database: %s", health)
	}
	second.start(t)
	own.Kill(t) // an updater whose connection hangs would need seconds
	own.Start(t)
	acme.goesOn(t)
	testenv.Eventually(t, 10*time.Second, func() error {
		if health := get(t, s.readURL+"/health/ready"); strings.Contains(health, "acme") {
			return errors.New(health)
		}
		return nil
	})
	main.kill(t)
	acme.goesOn(t)
	for _, each := range []*tenant{nobody, globex} {
		if code := each.ada.refused(t, viewVersion, each.asked()); code != "UNAVAILABLE" {
			t.Errorf("without the main database: %s", code)
		}
	}
	main.start(t)
	s.projector.Kill(t)
	s.projector.Start(t)
	for _, each := range all {
		each.goesOn(t)
	}

	// A rebuild of one leaves the other alone.
	(&system{store: in(second, "acme")}).operate(t, allIsWell, "rows", "rebuild")
	if n := count(t, main, "SELECT COUNT(*) FROM projection_rebuilds"); n != 0 {
		t.Errorf("the other database has %d rebuilds", n)
	}
	acme.goesOn(t)
	wantTenants(t, second, "acme")
	wantClean("acme", main, second)

	// A tenant moves, as extras/tenants/README.md says.
	const moved = "acme,globex"
	own.Stop(t)
	own.Set(in(second, moved)...)
	own.Start(t)
	globex.goesOn(t)
	(&system{store: in(second, moved)}).operate(t, allIsWell, "rows", "rebuild")
	globex.goesOn(t)
	s.reader.Stop(t)
	s.reader.Set(in(main, moved)...)
	s.reader.Start(t)
	for _, each := range all {
		each.goesOn(t)
	}
	s.projector.Stop(t)
	s.projector.Set(append(in(main, moved), "VERIFY_RATE=0")...) // or else it may find the rows, which makes it unready
	s.projector.Start(t)
	(&system{store: in(main, moved)}).operate(t, allIsWell, "rows", "rebuild")
	(&system{store: in(main, moved)}).operate(t, allIsWell, "rows", "rebuild", "--drop-old")
	for _, each := range all {
		each.goesOn(t)
	}
	wantTenants(t, main, "")
	wantTenants(t, second, "acme", "globex")
	wantClean(moved, main, second)
	hook.wantEach(t, env, false)
}

const viewVersion = `query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }`

// tenant has a thread with a member.
type tenant struct {
	ada    person
	thread string
	last   answer
}

func newTenant(t *testing.T, s *system, code string) *tenant {
	t.Helper()
	each := &tenant{ada: s.person(code)}
	each.last = each.ada.command(t, "/threads/create", fields{"name": "tea"})
	each.thread = each.last.text("thread_id")
	return each
}

func (each *tenant) asked() fields { return fields{"thread": each.thread, "viewer": each.ada.id} }

func (each *tenant) post(t *testing.T) {
	t.Helper()
	each.last = each.ada.command(t, "/threads/post_message", fields{"thread_id": each.thread, "text": "hello"})
}

// goesOn writes, and reads that with the token, soon.
func (each *tenant) goesOn(t *testing.T) {
	t.Helper()
	each.post(t)
	testenv.Eventually(t, 30*time.Second, func() error {
		view, failed, err := each.ada.tryView(t.Context(), each.thread, token(each.last))
		if err != nil || len(failed) > 0 || view.Version < each.last.version() || len(view.Messages) != each.last.version()-1 {
			return fmt.Errorf("version %d with %d messages of %d: %w %+v", view.Version, len(view.Messages), each.last.version(), err, failed)
		}
		return nil
	})
}

// leaves closes an account, whose threads the process manager of its database takes it out of.
func (each *tenant) leaves(t *testing.T) {
	t.Helper()
	bob := each.ada
	bob.id = each.ada.system.person("").id
	bob.command(t, "/accounts/register", fields{"name": "bob"})
	thread := each.ada.command(t, "/threads/create", fields{"name": "left"}).text("thread_id")
	each.ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
	bob.command(t, "/accounts/close", nil)
	each.ada.sees(t, thread, each.ada.id+" ADMIN")
}

func count(t *testing.T, m *mariaDB, query string) (n int) {
	t.Helper()
	if err := m.open(t).GetContext(t.Context(), &n, query); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantTenants checks whose rows a database has, and that there are any.
func wantTenants(t *testing.T, m *mariaDB, want ...string) {
	t.Helper()
	for _, from := range []string{"threads", "members", "messages", "projection_positions WHERE projection LIKE 'read-model%'"} {
		var found []string
		if err := m.open(t).SelectContext(t.Context(), &found, "SELECT DISTINCT tenant_code FROM "+from+" ORDER BY 1"); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s of the tenants %q, want %q", from, found, want)
		}
	}
}

// published counts the events that a webhook gets.
type published struct {
	*httptest.Server
	mutex sync.Mutex
	times map[string]int
}

func newPublished(t *testing.T) *published {
	p := &published{times: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct{ ID string }
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil || event.ID == "" {
			t.Errorf("a published event: %v, %+v", err, event)
		}
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.times[event.ID]++
	}))
	t.Cleanup(p.Close)
	return p
}

// wantEach waits until every event in the journal is published; by one publisher: who takes its turn over repeats few.
func (p *published) wantEach(t *testing.T, env []string, one bool) {
	t.Helper()
	db, err := database.Open(t.Context(), variable(env, "EVENT_STORE_URL"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	testenv.Eventually(t, 30*time.Second, func() error {
		var events []string
		if err := db.SelectContext(t.Context(), &events, "SELECT event_id FROM events"); err != nil {
			return err
		}
		p.mutex.Lock()
		defer p.mutex.Unlock()
		repeated := 0
		for _, id := range events {
			if p.times[id] == 0 {
				return fmt.Errorf("of %d events, %s is not published", len(events), id)
			}
			if p.times[id] > 1 {
				repeated++
			}
		}
		if one && repeated > len(events)/2 {
			t.Errorf("of %d events, %d are published more than once", len(events), repeated)
		}
		return nil
	})
}
