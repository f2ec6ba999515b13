package command

// Decider is what the service must know of a type of aggregate: S is its state, C its commands, E its events. The zero S
// is the state before the first event. All functions are pure and may be called concurrently.
type Decider[S, C, E any] struct {
	// Type is the aggregate's type in keys and in the store, such as "order".
	Type string
	// Decide says which events follow from the command, at least one, or why none does. Such an error says its class
	// itself: see [usecase.KindOf].
	Decide func(S, C) ([]E, error)
	// Apply is the state after the event. It never fails.
	Apply func(S, E) S
	// Answer is what the events of a command tell the one who asked, beside the aggregate and its version: names and ids.
	Answer func([]E) map[string]string
	// Usable says why a state is not worth a snapshot, as Decide would: there is none yet, or it has ended. nil: it is.
	Usable func(S) error
}

// State is an aggregate's state and its version: the number of events that it is made of, which is the seq_nr of the last
// one. The zero State is that of an aggregate that does not exist.
type State[S any] struct {
	Version uint64
	Value   S
}
