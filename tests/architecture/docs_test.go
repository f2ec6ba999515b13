// extra:whole

package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every test that a document names must exist, because a promise without its test proves nothing.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	declared := map[string][]string{} // the folders of each test
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Example)\w+)\(`)
	walk(t, ".go", func(path, text string) {
		for _, match := range declaration.FindAllStringSubmatch(text, -1) {
			declared[match[1]] = append(declared[match[1]], filepath.Dir(path))
		}
	})
	named := 0
	mention := regexp.MustCompile("`((?:Test[A-Z]|Example)\\w+)`")
	walk(t, ".md", func(path, text string) {
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			named++
			if declared[match[1]] == nil {
				t.Errorf("%s names %s, which is not a test of this repository", path, match[1])
			}
		}
	})
	// The failure lab shows names of tests to users, too.
	told := regexp.MustCompile(`\bTest[A-Z]\w+`)
	walk(t, "experiments.tsx", func(path, text string) {
		for _, name := range told.FindAllString(text, -1) {
			if named++; declared[name] == nil {
				t.Errorf("%s names %s, which is not a test of this repository", path, name)
			}
		}
	})
	if named == 0 {
		t.Error("no document names a test")
	}
	// Every part of the founding documents names its tests.
	walk(t, "seeds.md", func(path, text string) {
		rows := regexp.MustCompile(`(?m)^\| (.*) \|$`).FindAllString(text, -1)
		if len(rows) < 60 {
			t.Errorf("%s has %d rows", path, len(rows))
		}
		for _, row := range rows {
			if !strings.HasPrefix(row, "| part |") && !regexp.MustCompile("`(Test|Example)\\w+` \\|$").MatchString(row) {
				t.Errorf("%s has no test for: %s", path, row)
			}
		}
	})
	// The guarantees name the folder before its tests.
	quoted := regexp.MustCompile("`([^`]+)`")
	walk(t, "guarantees.md", func(path, text string) {
		for line := range strings.Lines(text) {
			folder := ""
			for _, match := range quoted.FindAllStringSubmatch(line, -1) {
				if folders, is := declared[match[1]]; !is {
					folder = match[1]
				} else if folder != "" && !slices.Contains(folders, folder) {
					t.Errorf("%s says that %s has %s; it is in %v", path, folder, match[1], folders)
				}
			}
		}
	})
}

// The README of the core leads through files by their functions.
func TestTheWayOfAMessageIsThere(t *testing.T) {
	text, err := os.ReadFile("../../tools/dev/core/README.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	stations := 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(line, "|")
		if len(columns) != 5 || !strings.Contains(line, ".go`") {
			continue
		}
		stations++
		for _, cell := range columns[2:4] {
			var code strings.Builder
			folder := ""
			for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
				if !strings.HasSuffix(match[1], ".go") {
					if !strings.HasPrefix(match[1], "go doc ") && !strings.Contains(code.String(), match[1]) {
						t.Errorf("%s: there is no %s", cell, match[1])
					}
					continue
				}
				if dir, _ := filepath.Split(match[1]); dir != "" {
					folder = dir
				}
				file, err := os.ReadFile(filepath.Join("../..", folder, filepath.Base(match[1])))
				if err != nil {
					t.Error(err)
				}
				code.Write(file)
			}
		}
	}
	if stations < 10 {
		t.Errorf("%d stations are found", stations)
	}
}

// walk visits the repository's files with an extension, except third-party files.
func walk(t *testing.T, ending string, visit func(path, text string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "data"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ending):
			return nil
		}
		text, err := os.ReadFile("../../" + path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// One idea has one word: documents and code do not use the words that the glossary in concepts.md gives up.
func TestTheWordsAreThoseOfTheGlossary(t *testing.T) {
	glossary, err := os.ReadFile("../../docs/concepts.md")
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(string(glossary), -1) {
		if row[1] != "word" {
			given = append(given, strings.Split(row[3], ", ")...)
		}
	}
	if len(given) < 5 {
		t.Fatalf("the glossary gives up only %q", given)
	}
	other := regexp.MustCompile(`(?i)\b(` + strings.Join(given, "|") + `)s?\b`)
	for _, ending := range []string{".md", ".go", ".tmpl", ".graphqls", ".sql", ".ts", ".tsx", ".yml", ".yaml"} {
		walk(t, ending, func(path, text string) {
			// seeds.md has the words of the founding documents.
			if name := filepath.Base(path); name == "concepts.md" || name == "seeds.md" || name == "docs_test.go" {
				return
			}
			for number, line := range strings.Split(text, "\n") {
				if word := other.FindString(strings.ReplaceAll(line, "Unprocessable Entity", "422")); word != "" {
					t.Errorf("%s:%d uses %q; docs/concepts.md has another word for it", path, number+1, word)
				}
			}
		})
	}
}
