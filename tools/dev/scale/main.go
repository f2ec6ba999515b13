// Command scale prints what the system on AWS can take and what it costs, by a model: what the programs consume was
// measured (measured.json, by tests/e2e TestScaleInputs), limits and prices are AWS's. Its output is in docs/scale.md.
package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

//go:embed measured.json
var measuredJSON []byte

func main() {
	var l load
	rate := flag.Float64("rate", 0, "commands a second; 0: the table of docs/scale.md")
	flag.Float64Var(&l.text, "text", 100, "bytes of a message: 100, 1000 or 4000")
	flag.Float64Var(&l.batch, "batch", 1, "commands for one thread that share a write")
	flag.Float64Var(&l.shards, "shards", 64, "SHARD_COUNT")
	flag.Float64Var(&l.first, "first-shards", 0, "SHARD_COUNT when the tables were made, which receipts keep; 0: the same")
	flag.BoolVar(&l.lambda, "lambda", false, "the updater is a function")
	flag.Float64Var(&l.keyed, "keyed", 1, "part of the commands that have an idempotency key")
	heat := flag.Bool("heat", false, "simulate how full partitions are when some threads are busier than others")
	flag.BoolVar(&l.provisioned, "provisioned", false, "the tables are provisioned, and used to 60 %")
	flag.Parse()
	rates := []float64{10, 1000, 5000, 100_000}
	if *rate > 0 {
		rates = []float64{*rate}
	}
	report := func() error { return print(os.Stdout, l, rates) }
	if *heat {
		report = func() error { return printHeat(os.Stdout, l, cmp.Or(*rate, 5000)) }
	}
	if err := report(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// print writes two tables.
func print(out io.Writer, l load, rates []float64) error {
	m, err := measuredFor(l.text)
	if err != nil {
		return err
	}
	limits := m.limits(l)
	fmt.Fprintln(out, "commands/s  what ends there")
	for i, limit := range limits {
		fmt.Fprintf(out, "%10s  %d %s\n", round(limit.rate), i+1, limit.name)
	}
	fmt.Fprintln(out, "\ncommands/s    $/month  month 12  $/million  largest, $/month")
	for _, rate := range rates {
		l.rate = rate
		lines, twelfth := m.costs(l), l
		twelfth.before = 11
		var largest []string
		for i, line := range lines {
			if i < 3 {
				largest = append(largest, fmt.Sprintf("%s %s", line.name, round(line.dollars)))
			}
		}
		var beyond []string
		for i, limit := range limits {
			if limit.name != oneThread && limit.rate < rate {
				beyond = append(beyond, fmt.Sprint(i+1))
			}
		}
		note := ""
		if len(beyond) > 0 {
			note = "; beyond " + strings.Join(beyond, ", ")
		}
		first := total(lines)
		fmt.Fprintf(out, "%10s %10s %9s %10.2f  %s%s\n", round(rate), round(first), round(total(m.costs(twelfth))), first/(rate*month/1e6), strings.Join(largest, ", "), note)
	}
	return nil
}

func total(lines []cost) (dollars float64) {
	for _, line := range lines {
		dollars += line.dollars
	}
	return dollars
}

func measuredFor(text float64) (measured, error) {
	var all []measured
	if err := json.Unmarshal(measuredJSON, &all); err != nil {
		return measured{}, err
	}
	at := slices.IndexFunc(all, func(m measured) bool { return m.TextBytes == text })
	if at < 0 {
		return measured{}, fmt.Errorf("texts of %v bytes were not measured", text)
	}
	return all[at], nil
}

// round shows two digits: a model has no more.
func round(value float64) string {
	unit := 1.0
	for value >= 100*unit {
		unit *= 10
	}
	digits := fmt.Sprintf("%.0f", float64(int(value/unit+0.5))*unit)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
