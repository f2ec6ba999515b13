package main

import (
	"fmt"
	"regexp"
	"strings"
)

// textOf is a text that is posted once, with a length as that of a short message.
func textOf(phase string, client, number int) string {
	return fmt.Sprintf("%-*s.", messageLength-1, fmt.Sprintf("text.%s.%d.%d.", phase, client, number))
}

var textKey = regexp.MustCompile(`text\.\w+\.\d+\.\d+\.`)

// keyOf is the part of a text that no other text has.
func keyOf(text string) string { return textKey.FindString(text) }

// count adds the texts that occur in a row or an event, once each.
func count(found map[string]int, content string) {
	seen := map[string]bool{}
	for _, key := range textKey.FindAllString(content, -1) {
		if !seen[key] {
			seen[key] = true
			found[key]++
		}
	}
}

// verdict is what became of the texts of a phase.
type verdict struct {
	missing int // acknowledged, and not found
	double  int // found more than once, acknowledged or not
}

// judge compares what the clients were told with what is found. A text without an acknowledgement may be there or not.
func judge(phase string, acknowledged []string, found map[string]int) (v verdict) {
	for _, text := range acknowledged {
		if found[keyOf(text)] == 0 {
			v.missing++
		}
	}
	for key, times := range found {
		if times > 1 && strings.HasPrefix(key, "text."+phase+".") {
			v.double++
		}
	}
	return v
}
