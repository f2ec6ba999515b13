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

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/program"
)

// Program is a program under test with its settings of type S.
type Program[S any] struct {
	Run program.Run
	// ReadSettings reads the environment as the program does at its start.
	ReadSettings func(*config.Reader) S
	// Needed are the required variables. The settings are valid with them and invalid without.
	Needed map[string]string
	// More are further environments to try, one after the other. They must not lead to variables that are read only
	// with them, because --help could not list those.
	More []map[string]string
}

// mostSettings is how many settings --help lists without the heading of an extra, at most: a reader takes in no more.
const mostSettings = 20

// CheckHelp checks that --help lists exactly the variables that are read, each with its true default, and few that are
// not of an extra.
func (p Program[S]) CheckHelp(t *testing.T) {
	t.Helper()
	read := map[string]bool{}
	for _, more := range append(p.More, nil) {
		p.ReadSettings(config.NewReader(func(name string) string { read[name] = true; return more[name] }))
	}
	told := p.told(t)
	for name := range read {
		if _, known := told[name]; !known {
			t.Errorf("%s is read, but --help does not list it", name)
		}
	}
	for name, otherwise := range told {
		if !read[name] {
			t.Errorf("--help lists %s, which the program does not read", name)
		}
		if otherwise == "" {
			t.Errorf("--help does not show the default of %s", name)
		}
	}

	unset, err := config.Read(p.environment(nil), p.ReadSettings)
	if err != nil {
		t.Fatalf("with only the required variables set: %v", err)
	}
	maps.DeleteFunc(told, func(_, otherwise string) bool {
		return otherwise == "none" || otherwise == "required" || otherwise == "AWS"
	})
	set, err := config.Read(p.environment(told), p.ReadSettings)
	if err != nil || !reflect.DeepEqual(unset, set) {
		t.Errorf("the defaults in --help are not the real ones:\nreal:    %+v\nin help: %+v, %v", unset, set, err)
	}
}

// told returns the variables of --help, each with the beginning of its text in brackets: the default.
func (p Program[S]) told(t *testing.T) map[string]string {
	t.Helper()
	var help bytes.Buffer
	if err := p.Run(t.Context(), []string{"--help"}, func(string) string { return "" }, &help); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(help.String(), "Environment variables")
	ofTheCore, _, _ := strings.Cut(list, "\n\n") // an extra's settings follow under its heading
	if settings := strings.Count(ofTheCore, "\n  "); settings > mostSettings {
		t.Errorf("--help lists %d settings without the heading of an extra, more than %d", settings, mostSettings)
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

// environment returns the required variables and more.
func (p Program[S]) environment(more map[string]string) func(string) string {
	environment := maps.Clone(p.Needed)
	if environment == nil {
		environment = map[string]string{}
	}
	maps.Copy(environment, more)
	return func(name string) string { return environment[name] }
}

// CheckNeeded leaves out the required variables: the error must name all of them.
func (p Program[S]) CheckNeeded(t *testing.T) {
	t.Helper()
	_, err := config.Read(func(string) string { return "" }, p.ReadSettings)
	namesAll(t, err, slices.Collect(maps.Keys(p.Needed)))
}

// CheckWrong sets variables to wrong values: the error must name all of them and must not contain the secret.
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

// CheckArguments checks that the program rejects arguments.
func (p Program[S]) CheckArguments(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"serve"}, {"-port", "1"}} {
		if err := p.Run(t.Context(), args, func(string) string { return "" }, io.Discard); !errors.Is(err, program.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
