package es_test

import (
	"fmt"

	"example.com/threads/es"
)

// An event whose JSON has to change gets another name, and its former name a row that makes the current event of the
// former JSON. Events in the journal stay as they are.
func ExampleFormer() {
	type dozens struct{ Dozens int } // how PiecesMoved was written at first, as DozensMoved
	events := es.NewCodec("shelf", nil,
		es.Plain[Moved, Moved]("PiecesMoved"),
		es.Former[Moved]("DozensMoved", func(w dozens) (Moved, error) { return Moved{12 * w.Dozens}, nil }),
	)
	stored := `{"type":"DozensMoved","id":"01H42KBHCW1BZG504J4ZXKA2F2","aggregate_id":"01H42K4ABWQ5V2XQEP3A48VE0Z",
		"seq_nr":1,"occurred_at":"2023-06-29T03:32:37Z","Dozens":2}`
	recorded, err := events.Decode([]byte(stored))
	fmt.Printf("%s %+v %v\n", events.EventType(recorded.Event), recorded.Event, err)
	// Output: PiecesMoved {Pieces:24} <nil>
}
