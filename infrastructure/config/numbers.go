package config

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Int returns the value, a decimal number from lowest to highest, or fallback when it is not set.
func (r *Reader) Int(name string, fallback, lowest, highest int, help string) int {
	return limits[int]{lowest, highest, "whole number", strconv.Atoi, strconv.Itoa}.read(r, name, fallback, help)
}

// Duration returns the value, a Go duration from lowest to highest, or fallback when it is not set.
func (r *Reader) Duration(name string, fallback, lowest, highest time.Duration, help string) time.Duration {
	return limits[time.Duration]{lowest, highest, "duration", time.ParseDuration, short}.read(r, name, fallback, help)
}

// limits is the range of a number.
type limits[T cmp.Ordered] struct {
	lowest, highest T
	kind            string
	parse           func(string) (T, error)
	show            func(T) string
}

func (l limits[T]) read(r *Reader, name string, fallback T, help string) T {
	between := l.show(l.lowest) + " to " + l.show(l.highest)
	text := r.read(name, l.show(fallback), help+"; "+between)
	if text == "" {
		return fallback
	}
	value, err := l.parse(text)
	if err != nil || value < l.lowest || value > l.highest {
		r.wrong(name, text, "a "+l.kind+" from "+between)
		return fallback
	}
	return value
}

// short formats d without zeros at the end: 1m, not 1m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
