// Command bench measures the system from outside, and raw calls on the same machine in the same run. Ratios can be
// compared between machines, absolute figures can't.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

const usage = `Usage: bench [flags]

Builds the programs, starts them as they are shipped in folders of their own, and measures them with clients over HTTP.
It prints a table of the medians of all turns, each with a yardstick from the same turns, and what it leaves out. The
rows of DynamoDB are measured on DynamoDB Local and MySQL or MariaDB, which ./bin/devservices starts for each measure
(make bench builds it). Rows with "open" are answers at a rate that does not depend on the answers, counted from when
each request was due.

With -base, a former build takes turns with this one. RATIO/BASE is the median of the turns' quotients and, in brackets,
where it lies with a probability of 95 % (all runs, if there are fewer than six): if that leaves out 1, the builds
differ. What is measured without the programs is not compared.

With -peer, this project and another one are measured, and killed, in turns instead. The figures are written into
` + comparisonFile + `, which tells how to begin.

Flags:
`

// settings are read from the flags.
type settings struct {
	only     *regexp.Regexp
	base     string // a commit; empty: none
	runs     int
	duration time.Duration
	warmUp   time.Duration
	folder   string
	output   string
	readings string
	peer     string // a folder; empty: no comparison
	// The folders of programs that are built already; empty: build them.
	built, builtBase string
}

// measures are those that the flags select from.
func (s settings) measures() []measure {
	if s.peer != "" {
		return compared(s.peer)
	}
	return measures
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == idleCommand {
		idle()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := readSettings(args, stderr)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(s.folder, "threads-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	say := func(format string, values ...any) { _, _ = fmt.Fprintf(stderr, "bench: "+format+"\n", values...) }
	if os.Getenv(dynamoDBVar) != "" {
		if err := useServices(); err != nil {
			return err
		}
	}
	if s.built == "" {
		say("building the programs")
		s.built = filepath.Join(folder, "bin")
		if err := build(ctx, ".", s.built); err != nil {
			return err
		}
	}
	if s.base != "" && s.builtBase == "" {
		say("building %s", s.base)
		s.builtBase = filepath.Join(folder, "base")
		if err := buildCommit(ctx, s.base, filepath.Join(folder, "tree"), s.builtBase); err != nil {
			return err
		}
	}
	builds := []string{s.built}
	if s.base != "" {
		builds = append(builds, s.builtBase)
	}
	if s.peer != "" && s.readings == "" {
		return compare(ctx, s, folder, stderr, say)
	}
	found, failed := measured(ctx, s, folder, builds, stderr, say)
	if s.readings != "" {
		return errors.Join(failed, write(s.readings, found))
	}
	rows := rowsOf(found)
	printRows(stdout, rows)
	return errors.Join(failed, write(s.output, rows))
}

// measured runs the measures with the builds in turns: this one, and the former one if there is one. If one fails, it
// returns the results so far.
func measured(ctx context.Context, s settings, folder string, builds []string, stderr io.Writer, say func(string, ...any)) (found []reading, err error) {
	for _, m := range s.measures() {
		if !s.only.MatchString(m.name) {
			continue
		}
		if m.services && os.Getenv(dynamoDBVar) == "" {
			say("%s: starting the services for it", m.name)
			readings, err := elsewhere(ctx, m.name, s, folder, stderr)
			if err != nil {
				return found, fmt.Errorf("%s: %w", m.name, err)
			}
			found = append(found, readings...)
			continue
		}
		var labs []*lab
		for n, binaries := range builds {
			l := &lab{
				folder: filepath.Join(folder, fmt.Sprintf("%s-%d", m.name, n)), binaries: binaries, prefix: []string{"", former}[n],
				runs: s.runs, duration: s.duration, warmUp: s.warmUp,
				say: func(format string, values ...any) { say(m.name+": "+format, values...) },
			}
			if err := os.Mkdir(l.folder, 0o700); err != nil {
				return found, err
			}
			labs = append(labs, l)
		}
		say("%s", m.name)
		readings, err := m.read(ctx, labs)
		if err != nil {
			return found, fmt.Errorf("%s: %w", m.name, err)
		}
		found = append(found, readings...)
	}
	return found, nil
}

func readSettings(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		flags.PrintDefaults()
	}
	only := flags.String("only", "", "regular expression of the measures to run, such as ^write; default: all")
	flags.StringVar(&s.base, "base", "", "commit of a former build to compare with")
	flags.IntVar(&s.runs, "runs", 3, "runs per measure; five turns, ten with -base, where builds take turns")
	flags.DurationVar(&s.duration, "duration", 3*time.Second, "how long to measure in a run; a tenth of it in a turn")
	flags.DurationVar(&s.warmUp, "warm-up", 2*time.Second, "how long to work before measuring")
	flags.StringVar(&s.folder, "folder", "", "parent of the data folder, to choose the disk (the system's for temporary files)")
	flags.StringVar(&s.output, "output", filepath.Join("data", "bench.json"), "file for the rows as JSON")
	flags.StringVar(&s.readings, "readings", "", "file for the figures of each run, instead of the table and the rows")
	flags.StringVar(&s.peer, "peer", "", "folder of a clone of j5ik2o/cqrs-es-example-go with its built program, to compare with")
	flags.StringVar(&s.built, "built", "", "folder of programs that are built already")
	flags.StringVar(&s.builtBase, "built-base", "", "folder of the former build's programs that are built already")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.runs < 1 || flags.NArg() > 0 {
		return s, errors.New("set at least one run and no arguments after the flags; see --help")
	}
	if s.peer != "" {
		s.peer, err = filepath.Abs(s.peer)
	}
	if err == nil {
		s.only, err = regexp.Compile(*only)
	}
	return s, err
}

// build builds the programs to measure from the tree.
func build(ctx context.Context, tree, folder string) error {
	return do(ctx, "go", "build", "-C", tree, "-o", folder+string(filepath.Separator), "./cmd/...", "./rdb-migration/cmd/migrate")
}

// buildCommit builds the programs of a commit, whose files it puts into tree.
func buildCommit(ctx context.Context, commit, tree, folder string) error {
	if err := do(ctx, "git", "worktree", "add", "--detach", tree, commit); err != nil {
		return err
	}
	return errors.Join(build(ctx, tree, folder), do(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", tree))
}

func do(ctx context.Context, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", command.Args, err, output)
	}
	return nil
}

// elsewhere runs a measure in a process of its own with new services, and returns the readings of its runs.
func elsewhere(ctx context.Context, name string, s settings, folder string, stderr io.Writer) ([]reading, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	output := filepath.Join(folder, name+".json")
	command := exec.CommandContext(ctx, filepath.Join("bin", "devservices"), "exec", "--", self, "-only", "^"+regexp.QuoteMeta(name)+"$",
		"-base", s.base, "-runs", fmt.Sprint(s.runs), "-duration", s.duration.String(), "-warm-up", s.warmUp.String(), "-folder", folder, "-readings", output,
		"-peer", s.peer, "-built", s.built, "-built-base", s.builtBase)
	command.Stdout, command.Stderr = stderr, stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%w; make bench builds ./bin/devservices, which starts the services", err)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	var readings []reading
	return readings, json.Unmarshal(text, &readings)
}

func write(path string, what any) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
