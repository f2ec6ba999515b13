package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const slowInterval = 30 * time.Second

// report collects the events of one run of go test.
type report struct {
	out      io.Writer
	now      func() time.Time
	begin    time.Time
	running  map[name]time.Time
	output   map[name][]string
	passed   map[string]int // by package
	failed   []name
	skipped  []skip
	packages int
	broken   int // packages that failed
}

// name is a test, or a package when test is "".
type name struct{ pkg, test string }

func (n name) String() string { return strings.TrimSuffix(n.pkg+" "+n.test, " ") }

type skip struct {
	name
	reason string
}

func newReport(out io.Writer, now func() time.Time) *report {
	return &report{
		out: out, now: now, begin: now(),
		running: map[name]time.Time{}, output: map[name][]string{}, passed: map[string]int{},
	}
}

func (r *report) take(e event) {
	n := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "run":
		r.running[n] = r.now()
	case "output":
		r.output[n] = append(r.output[n], e.Output)
	case "pass", "fail", "skip":
		delete(r.running, n)
		if e.Test == "" {
			r.endPackage(n, e)
		} else {
			r.endTest(n, e.Action)
		}
	}
}

func (r *report) endTest(n name, action string) {
	switch action {
	case "pass":
		r.passed[n.pkg]++
		delete(r.output, n)
	case "skip":
		r.skipped = append(r.skipped, skip{n, reason(r.output[n])})
		delete(r.output, n)
	case "fail":
		r.failed = append(r.failed, n)
	}
}

func (r *report) endPackage(n name, e event) {
	switch e.Action {
	case "skip": // no test files
		return
	case "fail":
		r.broken++
		r.showOutput(n.pkg)
	}
	r.packages++
	verdict := map[string]string{"pass": "ok  ", "fail": "FAIL"}[e.Action]
	fmt.Fprintf(r.out, "%s  %-60s %4d passed %8.1fs\n", verdict, n.pkg, r.passed[n.pkg], e.Elapsed)
}

// showOutput prints everything that the package's failed and unfinished tests said, and what the
// package said outside of its tests: a panic, a timeout, a data race.
func (r *report) showOutput(pkg string) {
	names := slices.SortedFunc(maps.Keys(r.output), func(a, b name) int { return strings.Compare(a.test, b.test) })
	for _, n := range names {
		if n.pkg == pkg && n.test != "" {
			fmt.Fprint(r.out, strings.Join(r.output[n], ""))
		}
	}
	fmt.Fprint(r.out, strings.Join(r.output[name{pkg, ""}], ""))
}

func (r *report) showSlow() {
	for n, since := range r.running {
		if took := r.now().Sub(since); took > slowInterval && !strings.Contains(n.test, "/") {
			fmt.Fprintf(r.out, "...   %s has been running for %.0fs\n", n, took.Seconds())
		}
	}
}

func (r *report) finish() {
	passed := 0
	for _, count := range r.passed {
		passed += count
	}
	for _, s := range r.skipped {
		fmt.Fprintf(r.out, "skipped: %s: %s\n", s.name, s.reason)
	}
	for _, n := range r.failed {
		fmt.Fprintf(r.out, "failed: %s\n", n)
	}
	fmt.Fprintf(r.out, "packages: %d tested, %d failed, after %.0fs\n", r.packages, r.broken, r.now().Sub(r.begin).Seconds())
	fmt.Fprintf(r.out, "tests: %d passed, %d failed, %d skipped\n", passed, len(r.failed), len(r.skipped))
}

// reason is what a skipped test said, without go test's own lines.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}
