package dev

import "strings"

// Environment is what the programs and the migrations get to see.
func (s Settings) Environment() map[string]string {
	seen := map[string]string{}
	for _, entry := range s.environment() {
		name, value, _ := strings.Cut(entry, "=")
		seen[name] = value // the last one counts, as for the system
	}
	return seen
}
