package tasks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
)

// linesOf returns the numbered lines of all parts.
func linesOf(t testing.TB, input string) (lines map[uint64]string, parts int) {
	t.Helper()
	lines = map[uint64]string{}
	for part, err := range cut(strings.NewReader(input)) {
		if err != nil {
			t.Fatal(err)
		}
		parts++
		if size := len(part.stored()); size > max(partBytes, MaxLine)+20 {
			t.Errorf("a part has %d bytes", size)
		}
		n := 0
		for number, line := range partOf(part.stored()).all() {
			n++
			lines[number] = line
		}
		if n > partLines {
			t.Errorf("a part has %d lines", n)
		}
	}
	return lines, parts
}

// wantLines returns what linesOf should find.
func wantLines(input string) map[uint64]string {
	want := map[uint64]string{}
	for i, line := range strings.Split(input, "\n") {
		if line = string(bytes.TrimSpace([]byte(line))); line != "" {
			want[uint64(i)+1] = line
		}
	}
	return want
}

func TestCut(t *testing.T) {
	for about, test := range map[string]struct {
		input string
		parts int
	}{
		"nothing":           {"", 0},
		"one line":          {"a", 1},
		"an ended line":     {"a\n", 1},
		"empty lines":       {"\n\na\n \r\nb\r\n\n", 1},
		"many lines":        {strings.Repeat("x\n", 2*partLines+1), 3},
		"many characters":   {strings.Repeat(strings.Repeat("x", 1000)+"\n", 100), 7},
		"long lines":        {strings.Repeat(strings.Repeat("x", MaxLine)+"\n", 3), 3},
		"after a short one": {"x\n" + strings.Repeat("x", MaxLine) + "\nx", 3},
	} {
		lines, parts := linesOf(t, test.input)
		if want := wantLines(test.input); fmt.Sprint(lines) != fmt.Sprint(want) || parts != test.parts {
			t.Errorf("%s: %d lines in %d parts, want %d in %d", about, len(lines), parts, len(want), test.parts)
		}
	}
}

func TestTheLongestLine(t *testing.T) {
	for _, end := range []string{"", "\n", "\r\n", "\nb", "\r\nb"} {
		longest := strings.Repeat("x", MaxLine)
		if lines, _ := linesOf(t, "a\n"+longest+end); lines[2] != longest {
			t.Errorf("%q: the line has %d bytes", end, len(lines[2]))
		}
		for more := 1; more <= 3; more++ {
			var failed error
			for _, err := range cut(strings.NewReader("a\n" + longest + strings.Repeat("x", more) + end)) {
				failed = err
			}
			if invalid, is := errors.AsType[*ident.InvalidError](failed); !is || invalid.Field != "line 2" {
				t.Errorf("%d bytes more, %q: %v", more, end, failed)
			}
		}
	}
}

func TestAnInputThatBreaksOff(t *testing.T) {
	var failed error
	for _, err := range cut(io.MultiReader(strings.NewReader("a\nb"), broken{})) {
		failed = err
	}
	if !errors.Is(failed, malformedBody) {
		t.Errorf("got %v", failed)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func FuzzCut(f *testing.F) {
	for _, seed := range []string{"", "a", "a\nb\n", "\n\n", "{}\r\n{}", strings.Repeat("x\n", 1001), "\x00\xff\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		input = input[:min(len(input), MaxLine)] // longer lines are refused
		lines, _ := linesOf(t, input)
		if want := wantLines(input); fmt.Sprint(lines) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", input, lines, want)
		}
	})
}
