package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/tests/programs"
)

// Each thread must get a code of its own, even if threads are created through different processes.
func TestCodesAreUnique(t *testing.T) { eachOwnSystem(t, testCodesAreUnique) }

func testCodesAreUnique(t *testing.T, s *system) {
	another := programs.New(t, binaries, "write-api", s.store, "WRITE_API_ADDR")
	another.Start(t)
	processes := []string{s.writeURL, another.URLs[0]}
	var mutex sync.Mutex
	codes := map[string]answer{}
	var creating sync.WaitGroup
	for i := range 20 {
		through := *s
		through.writeURL = processes[i%2]
		somebody := through.person("acme")
		creating.Go(func() {
			for n := range 10 {
				create := func() (answer, error) {
					return somebody.try(t.Context(), "/threads/create", fields{"name": "tea"}, headers{"Idempotency-Key": fmt.Sprint(n)})
				}
				created, err := create()
				for again := 0; again < 60 && created.status == 503; again++ { // a busy machine; clients repeat it
					_ = es.Wait(t.Context(), time.Second)
					created, err = create()
				}
				if err != nil || created.status != 201 {
					t.Errorf("%d %s %v", created.status, created.raw, err)
					return
				}
				mutex.Lock()
				codes[created.text("code")] = created
				mutex.Unlock()
			}
		})
	}
	creating.Wait()
	if len(codes) != 200 {
		t.Errorf("200 threads have %d codes", len(codes))
	}
	for code := range codes {
		if !regexp.MustCompile(`^THREAD-\d{6}$`).MatchString(code) {
			t.Errorf("a code is %q", code)
		}
	}

	ada := s.person("globex") // another tenant has codes of its own
	first := ada.command(t, "/threads/create", fields{"name": "first"})
	if code := first.text("code"); code != "THREAD-000001" {
		t.Errorf("the first code of another tenant is %q", code)
	}
	var found struct{ GetThreadByCode struct{ ID, Code string } }
	ada.ask(t, &found, `query($viewer: ID!) { getThreadByCode(code: "THREAD-000001", userAccountId: $viewer) { id code } }`, fields{"viewer": ada.id}, token(first))
	if thread := found.GetThreadByCode; thread.ID != first.text("thread_id") || thread.Code != "THREAD-000001" {
		t.Errorf("found %+v, created %s", thread, strings.TrimSpace(string(first.raw)))
	}
}
