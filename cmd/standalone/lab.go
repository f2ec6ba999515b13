// extra:lab

//go:build lab

package main

import (
	"example.com/threads/extras/lab"
	"example.com/threads/infrastructure/config"
)

// readLab reads whether to run the failure lab.
func readLab(r *config.Reader) failureLab {
	if r.OneOf("LAB", "on: the page has buttons that break this system on purpose", "off", "on") == "on" {
		return lab.New()
	}
	return nil
}
