package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func post(t *testing.T, text float64) measured {
	t.Helper()
	m, err := measuredFor(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func costOf(t *testing.T, name string, l load) float64 {
	t.Helper()
	for _, line := range post(t, l.text).costs(l) {
		if line.name == name {
			return line.dollars
		}
	}
	t.Fatalf("there is no line %q", name)
	return 0
}

// The page must have the tables that the command prints.
func TestThePageHasTheseTables(t *testing.T) {
	var tables bytes.Buffer
	l := load{text: 100, batch: 1, shards: 64, keyed: 1}
	err := print(&tables, l, []float64{10, 1000, 5000, 100_000})
	tables.WriteString("\n")
	if err := errors.Join(err, printHeat(&tables, l, 5000)); err != nil {
		t.Fatal(err)
	}
	all, throttled, _ := strings.Cut(spaces.ReplaceAllString(tables.String(), "\n"), "\n\nthrottled")
	page, err := os.ReadFile("../../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for table := range strings.SplitSeq(all, "\n\n") {
		if !bytes.Contains(page, []byte(strings.Trim(table, "\n"))) {
			t.Errorf("docs/scale.md must have:\n%s", table)
		}
	}
	for line, want := range map[int]string{1: "80%", 2: "61%", 3: "22%", 4: "0%"} { // if threads are alike
		if words := strings.Fields(strings.Split(throttled, "\n")[line]); words[3] != want {
			t.Errorf("docs/scale.md says %s, not %v", want, words)
		}
	}
}

var spaces = regexp.MustCompile(` *\n`)

// DynamoDB Local took what the rule says: a write unit for each started KB, twice in a transaction.
func TestUnitsFollowFromBytes(t *testing.T) {
	for _, text := range []float64{100, 1000, 4000} {
		m := post(t, text)
		if want := 2 * math.Ceil(m.ItemBytes/1024); m.JournalUnits != want || m.IndexUnits != want {
			t.Errorf("%v bytes take %v units and %v of the index, want %v", m.ItemBytes, m.JournalUnits, m.IndexUnits, want)
		}
	}
}

// A partition may be split between threads until it takes its writes. One thread is never split.
func TestWhatIsSplit(t *testing.T) {
	alike := journal{{0, 0.25}, {0, 0.25}, {0, 0.25}, {0, 0.25}}
	if parts := alike.split(); len(parts) != 2 || len(parts[0]) != 2 {
		t.Errorf("%v", parts)
	}
	if last := (journal{{0, 0.1}, {0, 0.9}}).split(); len(last) != 2 {
		t.Errorf("the busy one is not apart: %v", last)
	}
	if one := (journal{{0, 1}}).split(); len(one) != 1 {
		t.Errorf("%v", one)
	}
	if parts := (journal{{0, 0.5}, {1, 0.5}, {2, 0}, {3, 0}}).throttled(4000, 3); parts[0] != 0.5 || parts[2] != 0.5 {
		t.Errorf("two threads of 2,000 units are throttled at %v", parts)
	}
	if hottest := (journal{{0, 0.2}, {0, 0.3}, {1, 0.4}, {2, 0.1}}).hottestKey(); hottest != 0.5 {
		t.Errorf("the hottest key has %v", hottest)
	}
}

// The decision for Fargate must have the figures of the model.
func TestTheDecisionHasTheseFigures(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adr/0037-apis-on-fargate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{10, 100, 1000, 10_000} {
		l := load{rate: rate}
		line := fmt.Sprintf("\n%10s %8s %8s\n", round(rate), round(post(t, 100).apiTasks(l)*taskMonth), round(l.apisOnLambda()))
		if !bytes.Contains(page, []byte(line)) {
			t.Errorf("it must have:%s", line)
		}
	}
	even := 4 * taskMonth / load{rate: 1}.apisOnLambda()
	if want := fmt.Sprintf("Below %.0f commands a second", even); !bytes.Contains(page, []byte(want)) {
		t.Errorf("it must say: %s", want)
	}
}

// These are calculated by hand: a post writes two items of up to 1 KB in a transaction, which counts twice, and the
// index once more.
func TestKnownFigures(t *testing.T) {
	l := load{rate: 1000, text: 100, batch: 1, shards: 64}
	m := post(t, 100)
	if units := m.JournalUnits + m.IndexUnits + m.HeadUnits; units != 6 {
		t.Errorf("a post takes %v write units", units)
	}
	// 1,000 a second for 730 hours, 6.08 units with snapshots, $0.625 a million.
	if writes := costOf(t, "DynamoDB writes", l); math.Abs(writes-9986) > 20 {
		t.Errorf("a thousand posts a second write for $%.0f a month", writes)
	}
	for name, want := range map[string]float64{oneThread: 500, "all logical shards are full": 32_000} {
		for _, limit := range m.limits(l) {
			if limit.name == name && limit.rate != want {
				t.Errorf("%s at %v, want %v", name, limit.rate, want)
			}
		}
	}
}

func TestWhatCanBeTurned(t *testing.T) {
	base := load{rate: 1000, text: 100, batch: 1, shards: 64}
	cheaper := func(name, line string, turn func(*load)) {
		turned := base
		turn(&turned)
		if before, after := costOf(t, line, base), costOf(t, line, turned); after >= before {
			t.Errorf("%s: %s was $%.0f, and is $%.0f", name, line, before, after)
		}
	}
	cheaper("batches", "DynamoDB writes", func(l *load) { l.batch = 5 })
	cheaper("provisioned tables", "DynamoDB writes", func(l *load) { l.provisioned = true })
	cheaper("the updater on Lambda", "updater", func(l *load) { l.lambda = true })

	first := func(l load) limit { return post(t, l.text).limits(l)[1] } // after that of one thread
	if one, many := first(base), first(load{text: 100, batch: 1, shards: 64, lambda: true}); one.name != "one updater" || many.rate <= one.rate {
		t.Errorf("first ends %v, with Lambda %v", one, many)
	}
	if few := first(load{text: 100, batch: 1, shards: 4, lambda: true}); few.rate != 2000 {
		t.Errorf("with four shards %v ends first", few)
	}
	if raised := first(load{text: 100, batch: 1, shards: 64, first: 4, keyed: 1, lambda: true}); raised.rate != 2000 {
		t.Errorf("with receipts in four shards %v ends first", raised)
	}
	if long := first(load{text: 4000, batch: 1, shards: 64, lambda: true}); long.rate != 4000 {
		t.Errorf("with long messages %v ends first", long)
	}
	if _, err := measuredFor(7); err == nil {
		t.Error("a size that was not measured was taken")
	}
}

// A run on DynamoDB Local (TestHeatOnDynamoDBLocal) must be one that the simulation has, too: the busiest key's part is
// between the smallest and the largest of many draws.
func TestTheSimulationHasWhatWasRun(t *testing.T) {
	text, err := os.ReadFile("heat.json")
	if err != nil {
		t.Fatal(err)
	}
	var runs []struct {
		Threads, Shards   int
		Exponent, Hottest float64
	}
	if err := json.Unmarshal(text, &runs); err != nil || len(runs) < 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, run := range runs {
		var simulated []float64
		for seed := range uint64(100) {
			simulated = append(simulated, newJournal(run.Threads, run.Shards, run.Exponent, rand.New(rand.NewPCG(seed, 0))).hottestKey())
		}
		if least, most := slices.Min(simulated), slices.Max(simulated); run.Hottest < least || run.Hottest > most || most > 1.5*least+0.1 {
			t.Errorf("of %d threads under %d keys (Zipf %v) the busiest key had %.3f, and %.3f to %.3f in the simulation", run.Threads, run.Shards, run.Exponent, run.Hottest, least, most)
		}
	}
}
