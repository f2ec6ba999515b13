// Command bench measures the standalone program from outside, over HTTP, beside what the same disk does in raw SQLite
// transactions in the same run: ratios say something on any machine, absolute figures on this one only.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const usage = `Usage: bench [flags]

Builds and starts the standalone program in a folder of its own, has clients post to threads over HTTP, and prints a table:
commands a second, how long an answer takes, how long until GraphQL shows what was answered, the processor time of a
command. Beside it, what the event store does by itself, how evenly two writers share one busy thread, and the yardstick:
raw one-row SQLite transactions a second with the same durability, and the disk's fsyncs.

Flags:
`

// settings are what the flags say.
type settings struct {
	clients  int
	threads  int
	duration time.Duration
	warmUp   time.Duration
	folder   string
	output   string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&s.clients, "clients", 32, "clients that post at the same time")
	flags.IntVar(&s.threads, "threads", 32, "threads that they post to")
	flags.DurationVar(&s.duration, "duration", 15*time.Second, "how long to measure")
	flags.DurationVar(&s.warmUp, "warm-up", 3*time.Second, "how long to post before measuring")
	flags.StringVar(&s.folder, "folder", "", "where to make the folder for the data, to choose the disk (the system's for temporary files)")
	flags.StringVar(&s.output, "output", filepath.Join("data", "bench.json"), "file for the figures as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}

	folder, err := os.MkdirTemp(s.folder, "threads-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()

	progress := func(what string) { _, _ = fmt.Fprintln(stderr, "bench: "+what) }
	progress("building the program")
	system, err := start(ctx, folder)
	if err != nil {
		return err
	}
	defer system.stop()

	progress(fmt.Sprintf("warming up for %s, then measuring for %s", s.warmUp, s.duration))
	figures, err := measure(ctx, system, s)
	if err != nil {
		return err
	}
	if figures.failure != nil {
		progress("a client has given up: " + figures.failure.Error())
	}
	system.stop() // the yardsticks have the machine for themselves
	figures.CPUPerCommand = millisOf(system.cpu()) / millis(figures.posted)
	progress("measuring queries")
	if figures.Queries, err = queries(ctx, folder, s.duration/3); err != nil {
		return err
	}
	progress("measuring the event store by itself, raw SQLite transactions and the disk")
	if figures.AppendsPerSecond, err = appends(ctx, folder, s.clients, s.duration/3); err != nil {
		return err
	}
	if figures.SmallestShare, err = shares(ctx, folder, 4, s.duration/3); err != nil {
		return err
	}
	if figures.RawTransactionsPerSecond, err = yardstick(ctx, folder, s.duration/3); err != nil {
		return err
	}
	if figures.SyncsPerSecond, err = syncs(ctx, folder, s.duration/10); err != nil {
		return err
	}
	figures.TimesYardstick = figures.CommandsPerSecond / figures.RawTransactionsPerSecond
	figures.AppendsTimesYardstick = figures.AppendsPerSecond / figures.RawTransactionsPerSecond
	figures.print(stdout)
	return save(figures, s.output)
}

func save(figures figures, path string) error {
	text, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
