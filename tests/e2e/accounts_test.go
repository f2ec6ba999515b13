package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// leavesWithin limits how long a closed account may stay in its threads, on a busy machine.
const leavesWithin = 30 * time.Second

// members returns the members of a thread in the order of joining, as "<user account> <role> <account's name>".
func (p person) members(t *testing.T, threadID string, tokens ...string) ([]string, error) {
	t.Helper()
	var data struct {
		GetMembers []struct {
			UserAccountID, Role string
			Account             *struct{ Name string }
		}
	}
	errs, err := p.query(t.Context(), &data, `query($thread: ID!, $viewer: ID!) {
		getMembers(threadId: $thread, userAccountId: $viewer, first: 500) { userAccountId role account { name } }
	}`, fields{"thread": threadID, "viewer": p.id}, tokens...)
	if err != nil || len(errs) > 0 {
		return nil, fmt.Errorf("members of %s: %w %+v", threadID, err, errs)
	}
	var found []string
	for _, m := range data.GetMembers {
		name := ""
		if m.Account != nil {
			name = m.Account.Name
		}
		found = append(found, strings.TrimSpace(m.UserAccountID+" "+m.Role+" "+name))
	}
	return found, nil
}

// sees polls until these are the members.
func (p person) sees(t *testing.T, threadID string, want ...string) {
	t.Helper()
	testenv.Eventually(t, leavesWithin, func() error {
		got, err := p.members(t, threadID)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("members %q, want %q", got, want)
		}
		return err
	})
}

// of returns the same user account in another tenant.
func (p person) of(tenant string) person {
	other := p
	other.header = maps.Clone(p.header)
	other.header["X-Tenant-Code"] = tenant
	return other
}

// A closed account must leave every thread, and each thread keeps an Admin or has no members.
func TestAClosedAccountLeavesItsThreads(t *testing.T) {
	eachSystem(t, testAClosedAccountLeavesItsThreads)
}

func testAClosedAccountLeavesItsThreads(t *testing.T, s *system) {
	ada, bob, cleo := s.person("acme"), s.person("acme"), s.person("acme")
	elsewhere := ada.of("globex")
	add := func(to string, by, who person) answer {
		return by.command(t, "/threads/add_member", fields{"thread_id": to, "user_account_id": who.id, "role": "Member"})
	}
	create := func(by person) string {
		return by.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	}
	three, alone, bobs, theirs := create(ada), create(ada), create(bob), create(elsewhere)
	add(three, ada, bob)
	add(three, ada, cleo)
	last := add(bobs, bob, ada)

	registered := ada.command(t, "/accounts/register", fields{"name": "Ada"})
	if registered.status != 201 || registered.text("account_id") != ada.id || token(registered) != "account-"+ada.id+":1" {
		t.Errorf("registered: %d %s %v", registered.status, registered.raw, registered.header)
	}
	elsewhere.command(t, "/accounts/register", fields{"name": "another Ada"})
	renamed := ada.command(t, "/accounts/rename", fields{"name": "Countess"})
	got, err := bob.members(t, bobs, token(last), token(renamed))
	if want := []string{bob.id + " ADMIN", ada.id + " MEMBER Countess"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("members %q, %v, want %q", got, err, want)
	}
	ada.command(t, "/accounts/close", nil)

	bob.sees(t, three, bob.id+" ADMIN", cleo.id+" MEMBER")
	bob.sees(t, bobs, bob.id+" ADMIN")
	testenv.Eventually(t, leavesWithin, func() error {
		if a := ada.attempt(t, "/threads/rename", fields{"thread_id": alone, "name": "coffee"}, nil); a.text("code") != "thread_deleted" {
			return fmt.Errorf("the thread without members: %d %s", a.status, a.raw)
		}
		return nil
	})

	add(bobs, bob, ada)
	testenv.Eventually(t, leavesWithin, func() error {
		if a := ada.attempt(t, "/threads/post_message", fields{"thread_id": bobs, "text": "here again"}, nil); a.text("code") != "not_a_member" {
			return fmt.Errorf("a closed account that was added again: %d %s", a.status, a.raw)
		}
		return nil
	})
	bob.sees(t, bobs, bob.id+" ADMIN")

	elsewhere.sees(t, theirs, elsewhere.id+" ADMIN another Ada")
	if s.folder != "" {
		testCausation(t, s, ada.id)
	}
}

// testCausation reads from the journal how the process manager's events name their causes.
func testCausation(t *testing.T, s *system, user string) {
	t.Helper()
	db := openEvents(t, s)
	defer func() { _ = db.Close() }()
	var closing struct{ ID, Correlation string }
	err := db.GetContext(t.Context(), &closing, `SELECT json_extract(event_content, '$.id') AS id, json_extract(event_content, '$.correlation_id') AS correlation
		FROM events WHERE json_extract(event_content, '$.type') = 'AccountClosed' AND json_extract(event_content, '$.executor_id.value') = ?`, user)
	if err != nil {
		t.Fatal(err)
	}
	var contents []string
	if err := db.SelectContext(t.Context(), &contents, `SELECT event_content FROM events WHERE json_extract(event_content, '$.source') = 'process/leave-on-close'`); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, content := range contents {
		var event struct {
			Type          string
			CausationID   string `json:"causation_id"`
			CorrelationID string `json:"correlation_id"`
			CommandID     string `json:"command_id"`
		}
		if err := json.Unmarshal([]byte(content), &event); err != nil {
			t.Fatal(err)
		}
		why := " otherwise"
		if event.CausationID == closing.ID && event.CorrelationID == closing.Correlation && event.CommandID != "" {
			why = " by closing"
		}
		found = append(found, event.Type+why)
	}
	slices.Sort(found)
	want := []string{
		"ThreadDeleted by closing", "ThreadMemberRemoved by closing", "ThreadMemberRemoved by closing", "ThreadMemberRemoved otherwise", "ThreadMemberRoleChanged by closing",
	}
	if !slices.Equal(found, want) {
		t.Errorf("events of the process manager: %q, want %q", found, want)
	}
}

// openEvents opens the event store of a standalone system.
func openEvents(t *testing.T, s *system) *sqlx.DB {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+s.folder+"/events.db", database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Accounts are closed and added under load while the program with the process manager is killed. In the end no closed
// account is a member, each thread has an Admin, and the users' messages are there.
func TestClosedAccountsLeaveThroughKills(t *testing.T) {
	eachOwnSystem(t, testClosedAccountsLeaveThroughKills)
}

func testClosedAccountsLeaveThroughKills(t *testing.T, s *system) {
	const groups, leavers, kills = 3, 8, 5
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	until := func(who person, path string, body fields, key string) {
		for {
			a, err := untilAnswered(ctx, func(int) person { return who }, path, body, key)
			if err == nil {
				return
			}
			if a.text("code") != "concurrent_update" {
				t.Error(err)
				return
			}
		}
	}
	var threads []string
	stay := s.person("acme")
	gone := make([]person, leavers)
	for i := range gone {
		gone[i] = s.person("acme")
	}
	for range groups {
		// The first account to close is the only Admin; the account that stays joins last.
		thread := gone[0].command(t, "/threads/create", fields{"name": "leaving"}).text("thread_id")
		for _, who := range append(slices.Clone(gone[1:]), stay) {
			gone[0].command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": who.id, "role": "Member"})
		}
		threads = append(threads, thread)
	}
	const posts = 60
	var group sync.WaitGroup
	for _, thread := range threads {
		group.Go(func() {
			for post := range posts {
				text := fmt.Sprint(post)
				until(stay, "/threads/post_message", fields{"thread_id": thread, "text": text}, thread+text)
			}
		})
	}
	for i, who := range gone {
		group.Go(func() {
			until(who, "/accounts/register", fields{"name": "x"}, fmt.Sprint("r", i))
			until(who, "/accounts/close", nil, fmt.Sprint("c", i))
		})
	}
	for range kills {
		pause := time.NewTimer(rand.N(300 * time.Millisecond))
		<-pause.C
		s.projector.Kill(t)
		s.projector.Start(t)
	}
	group.Wait()
	for _, thread := range threads {
		stay.sees(t, thread, stay.id+" ADMIN")
		testenv.Eventually(t, 20*time.Second, func() error {
			if found := len(stay.messagesOf(t, thread)); found != posts {
				return fmt.Errorf("%d of %d messages in %+v", found, posts, stay.view(t, thread))
			}
			return nil
		})
		// creation, members, posts, at least one promotion, and one withdrawal per closed account
		events := 1 + leavers + posts + leavers
		if version := stay.view(t, thread).Version; version <= events || version > events+leavers {
			t.Errorf("version %d of a thread with %d events and 1 to %d promotions", version, events, leavers)
		}
	}
}
