package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mark matches a mark with the space before it: the names, and a brace if it begins or ends a block.
var mark = regexp.MustCompile(`[ \t]*(?://|#|--|<!--) extra:([a-z,|]+)(?: ([{}]))?(?: -->)?[ \t]*$`)

// hasAll reports whether all names, with commas between them, are kept; of names with | between them, one is enough.
func hasAll(kept []string, names string) bool {
	for name := range strings.SplitSeq(names, ",") {
		if !slices.ContainsFunc(strings.Split(name, "|"), func(name string) bool { return slices.Contains(kept, name) }) {
			return false
		}
	}
	return true
}

// cut returns the text without the lines of extras that are not kept, and without marks. If the whole text belongs to
// such an extra, it returns false.
func cut(text string, kept []string) (rest string, any bool, err error) {
	var lines []string
	cuts := map[int]bool{} // the lines before which something was left out
	var blocks []string    // that the line is in: their names
	gap := false
	dropped := func() bool {
		return slices.ContainsFunc(blocks, func(names string) bool { return !hasAll(kept, names) })
	}
	keep := func(line string) {
		if line == "" && gap && (len(lines) == 0 || lines[len(lines)-1] == "") {
			return // a block stood between two empty lines
		}
		cuts[len(lines)] = gap
		lines, gap = append(lines, line), false
	}
	for n, line := range strings.Split(text, "\n") {
		var found []string
		if strings.Contains(line, "extra:") { // most lines have no mark
			found = mark.FindStringSubmatch(line)
		}
		if found == nil {
			if !dropped() {
				keep(line)
			}
			continue
		}
		names, brace := found[1], found[2]
		has := hasAll(kept, names)
		bare := strings.TrimSuffix(line, found[0])
		if n == 0 && bare == "" && brace == "" && !has {
			return "", false, nil
		}
		switch {
		case brace == "{":
			blocks = append(blocks, names)
		case brace == "}" && (len(blocks) == 0 || blocks[len(blocks)-1] != names):
			return "", false, fmt.Errorf("line %d: the mark %q does not fit the blocks %q", n+1, strings.TrimSpace(found[0]), blocks)
		}
		if has && !dropped() && bare != "" {
			keep(bare)
		} else {
			gap = true
		}
		if brace == "}" {
			blocks = blocks[:len(blocks)-1]
		}
	}
	if len(blocks) > 0 {
		return "", false, fmt.Errorf("the blocks of %s have no end", blocks)
	}
	return strings.Join(joined(lines, cuts), "\n"), true, nil
}

const longest = 120 // columns of a line that joined makes

// joined makes lines of Go look as if nothing had been cut: arguments that fit into one line are there, and a variable
// that is only returned is not a variable.
func joined(lines []string, cuts map[int]bool) (result []string) {
	for n := 0; n < len(lines); n++ {
		if end, line := list(lines, cuts, n); line != "" {
			result, n = append(result, line), end
			continue
		}
		if name, is := strings.CutPrefix(strings.TrimLeft(lines[n], "\t"), "return "); is && cuts[n] && returned(result, name) {
			continue
		}
		result = append(result, lines[n])
	}
	return result
}

// list returns the list that begins with line n as one line, and its last line, if something was cut from it.
func list(lines []string, cuts map[int]bool, n int) (end int, line string) {
	if !strings.HasSuffix(lines[n], "(") && !strings.HasSuffix(lines[n], "{") {
		return n, ""
	}
	indent := indentOf(lines[n])
	var parts []string
	wasCut := false
	for end = n + 1; end < len(lines) && indentOf(lines[end]) == indent+1 && strings.HasSuffix(lines[end], ","); end++ {
		parts, wasCut = append(parts, strings.TrimSpace(lines[end])), wasCut || cuts[end]
	}
	if len(parts) == 0 || end == len(lines) || indentOf(lines[end]) != indent || !strings.HasPrefix(lines[end][indent:], ")") && !strings.HasPrefix(lines[end][indent:], "}") {
		return n, ""
	}
	line = lines[n] + strings.TrimSuffix(strings.Join(parts, " "), ",") + lines[end][indent:]
	if !wasCut && !cuts[end] || len(line) > longest || len(parts) > 1 && strings.Contains(parts[0], ": ") {
		return n, ""
	}
	return end, line
}

// returned makes the last statement of lines, if it is name := value, a return of the value.
func returned(lines []string, name string) bool {
	if len(lines) == 0 {
		return false
	}
	last := len(lines) - 1
	indent := indentOf(lines[last])
	first := last
	for first > 0 && (indentOf(lines[first]) > indent || strings.ContainsAny(lines[first][indent:min(indent+1, len(lines[first]))], ")}")) {
		first--
	}
	value, is := strings.CutPrefix(lines[first], strings.Repeat("\t", indent)+name+" := ")
	if is {
		lines[first] = strings.Repeat("\t", indent) + "return " + value
	}
	return is
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, "\t")) }
