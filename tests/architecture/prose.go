package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"unicode/utf8"
)

// MaxColumns is the maximum width of a line of prose. A tab counts as four columns.
const MaxColumns = 120

// LongComments returns the numbers of the lines of a Go file whose comments end beyond [MaxColumns]. Generated files
// and directives such as //go:embed and //nolint are not checked. Marks of extras do not count.
func LongComments(source []byte) ([]int, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	lines := strings.Split(string(source), "\n")
	var long []int
	for _, group := range file.Comments {
		for _, comment := range group.List {
			directive := strings.HasPrefix(comment.Text, "//") && !strings.HasPrefix(comment.Text, "// ")
			first, last := files.Position(comment.Pos()).Line, files.Position(comment.End()).Line
			for line := first; line <= last && !directive; line++ {
				prose, _, _ := strings.Cut(lines[line-1], " // extra:")
				if columns(prose) > MaxColumns {
					long = append(long, line)
				}
			}
		}
	}
	return long, nil
}

// LongProse returns the numbers of the lines of a Markdown text that are longer than [MaxColumns]. Tables, code blocks
// and lines with links are not checked.
func LongProse(text string) []int {
	var long []int
	code := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			code = !code
		case code, strings.HasPrefix(line, "|"), strings.Contains(line, "]("), strings.Contains(line, "://"):
		case columns(line) > MaxColumns:
			long = append(long, i+1)
		}
	}
	return long
}

func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}
