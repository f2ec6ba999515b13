package es_test

import (
	"errors"
	"fmt"

	"example.com/threads/es"
)

// overweight is an error of a domain that does not import the library: Class returns the name of its kind.
type overweight struct{ kilograms int }

func (o overweight) Error() string {
	return fmt.Sprintf("%d kg are too heavy for the shelf", o.kilograms)
}
func (overweight) Class() string { return "conflict" }

// Whoever answers callers asks for the kind of an error, also if it is wrapped. One without a kind is a server fault.
func ExampleKindOf() {
	fmt.Println(es.KindOf(fmt.Errorf("move bolts: %w", overweight{80})) == es.Conflict)
	fmt.Println(es.KindOf(fmt.Errorf("move bolts: %w", es.ErrUnavailable)))
	fmt.Println(es.KindOf(errors.New("out of luck")))
	// Output:
	// true
	// unavailable
	// internal
}
