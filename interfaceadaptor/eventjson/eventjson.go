// Package eventjson has the aggregate types of this application. Each is one value that joins the rules with the JSON
// of events and states. Every form ever written stays readable and has a golden file in testdata.
package eventjson

import "example.com/threads/es"

// Types returns all aggregate types.
func Types() []es.AnyAggregate {
	return []es.AnyAggregate{
		Threads(),  // extra:chat
		Accounts(), // extra:chat
	}
}
