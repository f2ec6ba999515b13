package kit

import (
	"errors"
	"reflect"

	"example.com/threads/domain/ident"
)

// Seen are the results of commands: names of types, and codes of rejections.
type Seen struct{ Commands, Events, Codes []string }

// Try decides every command in every state.
func Try[S, C, E any](decide func(S, C) ([]E, error), states []S, commands []C) (seen Seen) {
	for _, state := range states {
		for _, command := range commands {
			events, err := decide(state, command)
			Add(&seen, command, events, err)
		}
	}
	return seen
}

// Add adds a command with its events or its rejection.
func Add[C, E any](seen *Seen, command C, events []E, err error) {
	seen.Commands = append(seen.Commands, reflect.TypeOf(command).Name())
	for _, event := range events {
		seen.Events = append(seen.Events, reflect.TypeOf(event).Name())
	}
	var rejection *ident.Rejection
	if errors.As(err, &rejection) {
		seen.Codes = append(seen.Codes, rejection.Code())
	}
}
