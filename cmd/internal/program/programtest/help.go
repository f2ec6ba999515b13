package programtest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/threads/cmd/internal/program"
	"example.com/threads/infrastructure/config"
)

// Program is a program and what it reads from its environment, as S.
type Program[S any] struct {
	Run program.Run
	// ReadSettings reads the environment, as the program does when it starts.
	ReadSettings func(*config.Reader) S
	// Needed is what has to be set. The settings are good with it and bad without.
	Needed map[string]string
	// More is set in turn, and must not bring variables that are read only then: --help would not tell of them.
	More []map[string]string
}

// CheckHelp holds --help against what is read: it tells of every variable, and of no other, and what holds where the
// variable is not set.
func (p Program[S]) CheckHelp(t *testing.T) {
	t.Helper()
	read := map[string]bool{}
	for _, more := range append(p.More, nil) {
		p.ReadSettings(config.NewReader(func(name string) string { read[name] = true; return more[name] }))
	}
	told := p.told(t)
	for name := range read {
		if _, known := told[name]; !known {
			t.Errorf("%s is read, and --help does not tell of it", name)
		}
	}
	for name, otherwise := range told {
		if !read[name] {
			t.Errorf("--help tells of %s, which nobody reads", name)
		}
		if otherwise == "" {
			t.Errorf("--help does not tell what holds without %s", name)
		}
	}

	unset, err := config.Read(p.environment(nil), p.ReadSettings)
	if err != nil {
		t.Fatalf("with nothing but what is needed: %v", err)
	}
	maps.DeleteFunc(told, func(_, otherwise string) bool {
		return otherwise == "none" || otherwise == "required" || otherwise == "AWS"
	})
	set, err := config.Read(p.environment(told), p.ReadSettings)
	if err != nil || !reflect.DeepEqual(unset, set) {
		t.Errorf("--help does not tell the truth of what holds without a variable:\nnone set:    %+v\nas it tells: %+v, %v", unset, set, err)
	}
}

// told are the variables of --help, each with the beginning of what it tells in brackets: what holds without it.
func (p Program[S]) told(t *testing.T) map[string]string {
	t.Helper()
	var help bytes.Buffer
	if err := p.Run(t.Context(), []string{"--help"}, func(string) string { return "" }, &help); err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  (.*)$`).FindAllStringSubmatch(help.String(), -1) {
		told[line[1]] = ""
		if otherwise := regexp.MustCompile(`.*\((https?://[^\s)]+|[^\s:)]+(?::\d+)?|:\d+)[:)]`).FindStringSubmatch(line[2]); otherwise != nil {
			told[line[1]] = otherwise[1]
		}
	}
	return told
}

// environment is one with what is needed, and more.
func (p Program[S]) environment(more map[string]string) func(string) string {
	environment := maps.Clone(p.Needed)
	if environment == nil {
		environment = map[string]string{}
	}
	maps.Copy(environment, more)
	return func(name string) string { return environment[name] }
}

// CheckNeeded takes away what is needed: the error has to name all of it.
func (p Program[S]) CheckNeeded(t *testing.T) {
	t.Helper()
	_, err := config.Read(func(string) string { return "" }, p.ReadSettings)
	namesAll(t, err, slices.Collect(maps.Keys(p.Needed)))
}

// CheckWrong sets variables to wrong values: the error has to name all of them, and nothing of secret.
func (p Program[S]) CheckWrong(t *testing.T, wrong map[string]string, secret string) {
	t.Helper()
	_, err := config.Read(func(name string) string { return wrong[name] }, p.ReadSettings)
	namesAll(t, err, slices.Collect(maps.Keys(wrong)))
	if err != nil && secret != "" && strings.Contains(err.Error(), secret) {
		t.Errorf("%q is in the error: %v", secret, err)
	}
}

func namesAll(t *testing.T, err error, names []string) {
	t.Helper()
	for _, name := range names {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in the error %v", name, err)
		}
	}
}

// CheckArguments sees that the program takes none.
func (p Program[S]) CheckArguments(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"serve"}, {"-port", "1"}} {
		if err := p.Run(t.Context(), args, func(string) string { return "" }, io.Discard); !errors.Is(err, program.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
