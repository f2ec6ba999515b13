package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mark matches a mark with the space before it: the names, and a brace if it begins or ends a block.
var mark = regexp.MustCompile(`[ \t]*(?://|#|--|<!--) extra:([a-z,]+)(?: ([{}]))?(?: -->)?[ \t]*$`)

// hasAll reports whether all names, with commas between them, are kept.
func hasAll(kept []string, names string) bool {
	return !slices.ContainsFunc(strings.Split(names, ","), func(name string) bool { return !slices.Contains(kept, name) })
}

// cut returns the text without the lines of extras that are not kept, and without marks. If the whole text belongs to
// such an extra, it returns false.
func cut(text string, kept []string) (rest string, any bool, err error) {
	var lines []string
	block, drop, gap := "", false, false
	keep := func(line string) {
		if line == "" && gap && (len(lines) == 0 || lines[len(lines)-1] == "") {
			return // a block stood between two empty lines
		}
		lines, gap = append(lines, line), false
	}
	for n, line := range strings.Split(text, "\n") {
		var found []string
		if strings.Contains(line, "extra:") { // most lines have no mark
			found = mark.FindStringSubmatch(line)
		}
		if found == nil {
			if !drop {
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
		case brace == "{" && block == "":
			block, drop = names, !has
		case brace == "}" && block != names, brace == "{":
			return "", false, fmt.Errorf("line %d: the mark %q does not fit the block %q", n+1, strings.TrimSpace(found[0]), block)
		}
		if has && !drop && bare != "" {
			keep(bare)
		} else {
			gap = true
		}
		if brace == "}" {
			block, drop = "", false
		}
	}
	if block != "" {
		return "", false, fmt.Errorf("the block of %s has no end", block)
	}
	return strings.Join(lines, "\n"), true, nil
}
