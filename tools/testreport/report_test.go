package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `package sample

import "testing"

func TestGood(t *testing.T) { t.Run("part", func(*testing.T) {}) }
func TestLeftOut(t *testing.T) { t.Skip("needs a moon") }
`

// TestReport runs go test on a small module of its own, first a good one, then with a failure.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module sample\n\ngo 1.26\n")
	write("sample_test.go", sample)
	t.Chdir(folder)

	var out strings.Builder
	if err := run(t.Context(), []string{"./..."}, &out); err != nil {
		t.Errorf("error %v from tests that pass", err)
	}
	for _, want := range []string{
		"ok    sample", "skipped: sample TestLeftOut: sample_test.go:6: needs a moon",
		"packages: 1 tested, 0 failed", "tests: 2 passed, 0 failed, 1 skipped",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}

	write("bad_test.go", "package sample\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"the sky fell\") }\n")
	out.Reset()
	if err := run(t.Context(), []string{"./..."}, &out); err == nil {
		t.Error("no error from a test that fails")
	}
	for _, want := range []string{"the sky fell", "FAIL  sample", "failed: sample TestBad", "tests: 2 passed, 1 failed, 1 skipped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}

	write("bad_test.go", "package sample\n\nvar broken int = \"text\"\n")
	out.Reset()
	if err := run(t.Context(), []string{"./..."}, &out); err == nil {
		t.Error("no error from tests that do not compile")
	}
	if !strings.Contains(out.String(), "cannot use") || !strings.Contains(out.String(), "FAIL  sample") {
		t.Errorf("the compiler's message is not in:\n%s", out.String())
	}
}
