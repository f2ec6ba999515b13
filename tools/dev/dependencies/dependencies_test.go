package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPackageWithAKnownVulnerabilityIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it downloads modules")
	}
	folder := t.TempDir()
	file(t, folder, "main.go", "package main\n\nimport \"golang.org/x/text/language\"\n\nfunc main() { _, _ = language.Parse(\"en\") }\n")
	for _, args := range [][]string{{"mod", "init", "example.org/old"}, {"get", "golang.org/x/text@v0.3.5"}} {
		if _, err := output(t.Context(), folder, args...); err != nil {
			t.Fatal(err)
		}
	}
	err := vulnerabilities(t.Context(), folder, vulndb)
	if err == nil || !strings.Contains(err.Error(), "GO-2021-0113: golang.org/x/text/language of golang.org/x/text v0.3.5; mended in v0.3.7") {
		t.Errorf("found: %v", err)
	}
}

func TestLicences(t *testing.T) {
	const isc = "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, " +
		"provided that the above copyright notice and this permission notice appear in all copies.\n\n" +
		"THE SOFTWARE IS PROVIDED \"AS IS\" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED " +
		"WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR " +
		"CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, " +
		"NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.\n"
	const gpl = "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as " +
		"published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.\n"
	for name, c := range map[string]struct{ files, want string }{
		"allowed":       {isc, ""},
		"not allowed":   {gpl, "which is not allowed"},
		"unknown text":  {"Ask us.\n", "no licence that is known"},
		"one of two":    {isc + "\n" + gpl, "which is not allowed"},
		"no such thing": {"", "no licence that is known"},
	} {
		folder := t.TempDir()
		if c.files != "" {
			file(t, folder, "LICENSE", c.files)
		}
		check(t, name, module{Path: "example.org/it", Dir: folder}.checkLicence(), c.want)
	}
}

func TestLicencesOfPackages(t *testing.T) {
	for text, want := range map[string]string{
		`{"packages": {"": {}, "node_modules/a": {"license": "MIT"}, "node_modules/b": {"license": "GPL-3.0", "dev": true}}}`: "",
		`{"packages": {"node_modules/a": {"license": "GPL-3.0"}}}`:                                                            "GPL-3.0",
		`{"packages": {"node_modules/a": {}}}`:                                                                                "not allowed",
		`{`:                                                                                                                   "package-lock.json",
	} {
		check(t, text, checkPackages(file(t, t.TempDir(), "package-lock.json", text)), want)
	}
}

// check compares an error with a part of its text; empty: no error.
func check(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: the error is %v, want %q", name, err, want)
	}
}

func file(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
