package config

import (
	"fmt"
	"strconv"
	"time"
)

// Int returns the value, a decimal number from lowest to highest, or fallback when it is not set.
func (r *Reader) Int(name string, fallback, lowest, highest int) int {
	text := r.getenv(name)
	if text == "" {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < lowest || value > highest {
		r.wrong(name, text, fmt.Sprintf("a whole number from %d to %d", lowest, highest))
		return fallback
	}
	return value
}

// Duration returns the value, a Go duration from lowest to highest, or fallback when it is not set.
func (r *Reader) Duration(name string, fallback, lowest, highest time.Duration) time.Duration {
	text := r.getenv(name)
	if text == "" {
		return fallback
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < lowest || value > highest {
		r.wrong(name, text, fmt.Sprintf("a duration from %s to %s, such as 250ms or 1m30s", lowest, highest))
		return fallback
	}
	return value
}

// Bool returns the value, true or false, or fallback when it is not set.
func (r *Reader) Bool(name string, fallback bool) bool {
	switch text := r.getenv(name); text {
	case "":
		return fallback
	case "true":
		return true
	case "false":
		return false
	default:
		r.wrong(name, text, "true or false")
		return fallback
	}
}
