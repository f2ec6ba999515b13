// extra:lab

//go:build !lab

package main

import "example.com/threads/infrastructure/config"

// readLab returns nil: this program was built without the failure lab.
func readLab(*config.Reader) failureLab { return nil }
