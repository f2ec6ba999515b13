package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

const (
	allIsWell = 0
	isWrong   = 3 // something is wrong with the data, and was reported
)

// operate runs threadctl as an operator does.
func (s *system) operate(t *testing.T, wantCode int, args ...string) string {
	t.Helper()
	output, problem, code := s.tryOperate(t, args...)
	verifies := wantCode == allIsWell && slices.Equal(args, []string{"rows", "verify"})
	for began := time.Now(); verifies && code != wantCode && time.Since(began) < time.Minute; { // rows may follow late
		output, problem, code = s.tryOperate(t, args...)
	}
	if code != wantCode {
		t.Fatalf("threadctl %s: exit code %d, want %d:\n%s\n%s", strings.Join(args, " "), code, wantCode, output, problem)
	}
	return output
}

func (s *system) tryOperate(t *testing.T, args ...string) (output, problem string, code int) {
	t.Helper()
	return runProgram(t, filepath.Join(binaries, "threadctl"), s.store, args...)
}

// runProgram runs a program to its end. It returns what it writes as its output and as its errors, and its exit code.
func runProgram(t *testing.T, path string, env []string, args ...string) (output, problem string, code int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), path, args...)
	command.Env = env
	text, err := command.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if ended != nil {
		return string(text), string(ended.Stderr), ended.ExitCode()
	}
	return string(text), "", 0
}

// finding is an element of the output of `journal check --json`.
type finding struct{ Tenant, AID, Kind, What, Expected, Found, Next string }

// wantFindings checks everything: exactly these kinds must be found, all in this aggregate.
func (s *system) wantFindings(t *testing.T, aid string, want ...string) {
	t.Helper()
	var told struct{ Findings []finding }
	if err := json.Unmarshal([]byte(s.operate(t, isWrong, "journal", "check", "--json")), &told); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range told.Findings {
		kinds = append(kinds, f.Kind)
		if f.AID != aid || f.Tenant != "acme" || f.What == "" || f.Expected == "" || f.Found == "" || f.Next == "" {
			t.Errorf("told: %+v", f)
		}
		if f.Kind == "head_behind" && !strings.Contains(f.Next, "`journal repair "+aid+" --tenant acme`") {
			t.Errorf("what repairs it is not told: %+v", f)
		}
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); !slices.Equal(kinds, want) {
		t.Errorf("found %v, want %v:\n%+v", kinds, want, told.Findings)
	}
}

// Damage in the event store must be reported and repaired while the programs run.
func TestAnOperatorMendsTheEventStore(t *testing.T) {
	eachOwnSystem(t, func(t *testing.T, s *system) {
		ada, spoil := s.person("acme"), spoilerOf(t, s.store)
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		s.person("").command(t, "/threads/create", fields{"name": "another"})
		aid, version := "thread-"+thread, 1
		post := func() {
			version = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint(version)}).version()
		}
		repair := func() { s.operate(t, allIsWell, "journal", "repair", aid, "--tenant", "acme") }
		for range 25 {
			post()
		}
		if output := s.operate(t, allIsWell, "journal", "check"); output != "checked: 2\nfindings: []\nok: true\nwrong: 0\n" {
			t.Error(output)
		}
		s.settle(t, aid)

		for kind, spoilt := range map[string]func(){
			"head_ahead":      func() { spoil.setHead(t, aid, version+2) },
			"head_behind":     func() { spoil.setHead(t, aid, version-2) },
			"head_missing":    func() { spoil.removeHead(t, aid) },
			"head_unreadable": func() { spoil.spoilPointer(t, aid) },
		} {
			spoilt()
			s.wantFindings(t, aid, kind)
			s.operate(t, isWrong, "journal", "repair", aid, "--tenant", "acme", "--dry-run")
			s.wantFindings(t, aid, kind)
			repair()
			s.operate(t, allIsWell, "journal", "check", aid, "--tenant", "acme")
			post()
		}

		s.settle(t, aid)
		spoil.spoilSnapshots(t, aid)
		s.wantFindings(t, aid, "snapshot_broken", "snapshot_pointer")
		repair()
		s.operate(t, allIsWell, "snapshots", "take", aid, "--tenant", "acme")
		s.operate(t, allIsWell, "journal", "check")
		s.wantShown(t, aid, version)

		for range 4 {
			post()
		}
		s.store = append(s.store, "SNAPSHOT_EVERY=3")
		if due := s.operate(t, allIsWell, "snapshots", "due"); !strings.Contains(due, aid) {
			t.Errorf("%s is not due:\n%s", aid, due)
		}
		s.operate(t, allIsWell, "snapshots", "take")
		if due := s.operate(t, allIsWell, "snapshots", "due"); strings.Contains(due, aid) {
			t.Errorf("%s is still due:\n%s", aid, due)
		}
	})
}

// shownAggregate is the output of `journal show`.
type shownAggregate struct {
	Head struct {
		Version         int `json:"version"`
		SnapshotVersion int `json:"snapshot_version"`
	}
	Snapshots []struct{ Version int }
	Events    []struct {
		SeqNr   int `json:"seq_nr"`
		Payload struct {
			SeqNr int `json:"seq_nr"`
		}
	}
}

func (s *system) show(t *testing.T, aid string) (told shownAggregate) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.operate(t, allIsWell, "journal", "show", aid, "--tenant", "acme")), &told); err != nil {
		t.Fatal(err)
	}
	return told
}

// settle waits until snapshots, which are written after the commands, are complete: the latest and one before it.
func (s *system) settle(t *testing.T, aid string) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, func() error {
		told := s.show(t, aid)
		later := 0
		for _, snapshot := range told.Snapshots {
			if snapshot.Version > 1 {
				later++
			}
		}
		if told.Head.Version-told.Head.SnapshotVersion >= 10 || later != 2 {
			return fmt.Errorf("head %+v, snapshots %+v", told.Head, told.Snapshots)
		}
		return nil
	})
}

// wantShown checks that all events are shown in order.
func (s *system) wantShown(t *testing.T, aid string, version int) {
	t.Helper()
	told := s.show(t, aid)
	if told.Head.Version != version || len(told.Snapshots) == 0 || len(told.Events) != version {
		t.Errorf("head %+v, snapshots %+v, %d events; want %d", told.Head, told.Snapshots, len(told.Events), version)
	}
	for i, event := range told.Events {
		if event.SeqNr != i+1 || event.Payload.SeqNr != i+1 {
			t.Fatalf("event %d is shown as %+v", i+1, event)
		}
	}
}
