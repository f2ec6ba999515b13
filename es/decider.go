package es

// Decider holds the functions of an aggregate type: S is its state, C its commands, E its events. The zero S is the
// state before the first event. All functions are pure and may be called concurrently.
type Decider[S, C, E any] struct {
	// Type is the aggregate type in keys and in the store, such as "order".
	Type string
	// Decide returns the events that follow from the command, at least one, or an error that rejects it. Such an error
	// reports its class: see [KindOf].
	Decide func(S, C) ([]E, error)
	// Apply returns the state after the event. It never fails.
	Apply func(S, E) S
	// Answer returns the data for the caller from a command's events, such as new ids. The aggregate's key and version
	// are returned in any case.
	Answer func([]E) map[string]string
	// Usable returns why a state cannot have a snapshot (the aggregate does not exist yet, or has ended), with the same
	// errors as Decide; nil means that it can.
	Usable func(S) error
}

// State is an aggregate's state and its version, which is the SeqNr of its last event. The zero State is that of an
// aggregate that does not exist.
type State[S any] struct {
	Version uint64
	Value   S
}
