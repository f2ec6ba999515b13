package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// comparisonFile has the figures between two lines, and around them what people have written about them.
const (
	comparisonFile  = "docs/comparison.md"
	comparisonBegin = "<!-- make compare writes from here -->\n"
	comparisonEnd   = "<!-- to here -->\n"
)

// comparedRow is a row of the table: what it shows, and its cell from the values of a contender.
type comparedRow struct {
	what string
	cell func(v values) string
}

// values are the combined readings of one contender.
type values map[string]float64

// worst are the measures of damage: of several runs the worst counts. Of the others it is the median.
var worst = regexp.MustCompile(`\.(missing|double|never)$`)

// valuesOf combines the readings of the contender whose name begins their names.
func valuesOf(readings []reading, contender string) values {
	all := map[string][]float64{}
	for _, r := range readings {
		if name, is := strings.CutPrefix(r.Name, contender); is {
			all[name] = append(all[name], r.Value)
		}
	}
	combined := values{}
	for name, each := range all {
		if worst.MatchString(name) {
			combined[name] = slices.Max(each)
		} else {
			combined[name] = median(each)
		}
	}
	return combined
}

func (v values) posts(clients int) string {
	name := fmt.Sprintf("posts%d", clients)
	return fmt.Sprintf("%.0f (%.0f, %.0f)", v[name], v[name+".p50"], v[name+".p99"])
}

func (v values) caughtUp() string {
	if v["updater.missing"] > 0 {
		return "never"
	}
	return fmt.Sprintf("%.1f s", v["updater.caught"]/1000)
}

var comparedRows = []comparedRow{
	{"Posts/s, 1 client (p50, p99 in ms)", func(v values) string { return v.posts(1) }},
	{"8 clients", func(v values) string { return v.posts(8) }},
	{"32 clients", func(v values) string { return v.posts(32) }},
	{"missing in queries afterwards", func(v values) string { return fmt.Sprintf("%.0f of %.0f", v["load.missing"], v["load.posts"]) }},
	{"Post to query at 20 posts/s (p50, p99 in ms); never", func(v values) string {
		return fmt.Sprintf("%.0f, %.0f; %.0f of %d", v["visible.p50"], v["visible.p99"], v["visible.never"], visibleCount)
	}},
	{"Queries/s of 100 messages, 8 clients", func(v values) string { return fmt.Sprintf("%.0f", v["queries"]) }},
	{"Writer killed: posts missing in journal; in queries", func(v values) string {
		return fmt.Sprintf("%.0f; %.0f of %.0f", v["writer.journal.missing"], v["writer.query.missing"], v["writer.posts"])
	}},
	{"Updater killed: rows double; missing; caught up after", func(v values) string {
		return fmt.Sprintf("%.0f; %.0f of %.0f; %s", v["updater.double"], v["updater.missing"], v["updater.posts"], v.caughtUp())
	}},
	{"Sent twice: stored twice", func(v values) string { return fmt.Sprintf("%.0f of %d", v["repeat.double"], repeats) }},
	{"Two writers, one thread: posts/s; failed; lost", func(v values) string {
		return fmt.Sprintf("%.0f; %.0f%%; %.0f", v["both.posts"], v["both.refused"], v["both.missing"])
	}},
	{"Writer ready after; memory of three programs", func(v values) string {
		return fmt.Sprintf("%.0f ms; %.0f MiB", v["start"], v["memory"])
	}},
	{"Lines of Go without tests, generated code; modules", func(v values) string { return fmt.Sprintf("%.0f; %.0f", v["lines"], v["modules"]) }},
}

// comparison returns the part of the document that is measured.
func comparison(readings []reading, ours, theirs, when string, runs int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Measured on %s with %d cores, %d runs: this project at `%s`, the peer at `%s`.\n\n", when, runtime.NumCPU(), runs, ours, theirs)
	text.WriteString("| | this project | the peer |\n|---|---|---|\n")
	mine, its := valuesOf(readings, ourReadings), valuesOf(readings, peerReadings)
	for _, row := range comparedRows {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", row.what, row.cell(mine), row.cell(its))
	}
	return text.String()
}

// replaceComparison replaces the measured part of a document.
func replaceComparison(document, measured string) (string, error) {
	before, rest, begins := strings.Cut(document, comparisonBegin)
	_, after, ends := strings.Cut(rest, comparisonEnd)
	if !begins || !ends {
		return "", errors.New("the lines are missing between which the figures are")
	}
	return before + comparisonBegin + measured + comparisonEnd + after, nil
}

// writeComparison adds the sizes of both to the readings and writes the document.
func writeComparison(ctx context.Context, binaries string, s settings, readings []reading) error {
	for _, contender := range []struct {
		name, tree string
		programs   []string
	}{
		{ourReadings, ".", []string{filepath.Join(binaries, "write-api"), filepath.Join(binaries, "read-api"), filepath.Join(binaries, "read-model-updater")}},
		{peerReadings, s.peer, []string{filepath.Join(s.peer, peerProgram)}},
	} {
		lines, err := linesOf(os.DirFS(contender.tree))
		if err != nil {
			return err
		}
		modules, err := modulesOf(contender.programs)
		if err != nil {
			return err
		}
		readings = append(readings, reading{Name: contender.name + "lines", Value: float64(lines)}, reading{Name: contender.name + "modules", Value: float64(modules)})
	}
	ours, err := commitOf(ctx, ".")
	if err != nil {
		return err
	}
	theirs, err := commitOf(ctx, s.peer)
	if err != nil {
		return err
	}
	document, err := os.ReadFile(comparisonFile)
	if err != nil {
		return err
	}
	measured := comparison(readings, ours, theirs, time.Now().UTC().Format(time.DateOnly), s.runs)
	text, err := replaceComparison(string(document), measured)
	if err != nil {
		return fmt.Errorf("%s: %w", comparisonFile, err)
	}
	return os.WriteFile(comparisonFile, []byte(text), 0o644)
}

func commitOf(ctx context.Context, tree string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", "-C", tree, "rev-parse", "--short=10", "HEAD").Output()
	return strings.TrimSpace(string(output)), err
}

var (
	generatedCode = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	// notShipped are folders of what is not part of a program: tests, kits for tests, examples and developers' tools.
	notShipped = regexp.MustCompile(`(?i)^(\..+|.*tests?|testdata|testenv|examples|tools|deploy|docs|node_modules|data|bin)$`)
)

// linesOf returns the lines of Go of a tree without tests and generated code.
func linesOf(tree fs.FS) (lines int, err error) {
	return lines, fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != "." && notShipped.MatchString(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(tree, path)
		if !generatedCode.Match(content) {
			lines += bytes.Count(content, []byte("\n"))
		}
		return err
	})
}

// modulesOf returns the number of modules that are built into the programs, apart from the main one.
func modulesOf(programs []string) (int, error) {
	modules := map[string]bool{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return 0, err
		}
		for _, module := range info.Deps {
			if !strings.HasPrefix(module.Path, "example.com/threads") {
				modules[module.Path] = true
			}
		}
	}
	return len(modules), nil
}
