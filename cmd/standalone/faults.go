// extra:lab

package main

import (
	"net/http"

	"example.com/threads/es"
	esrun "example.com/threads/es/run"
)

// failureLab is the failure lab of a program that was built with the tag lab; see lab.go.
type failureLab interface {
	// Faults inject faults into the projection.
	Faults() esrun.Faults
	// Gateway wraps the write-api's event store.
	Gateway(es.Store) es.Store
	// Handler serves the lab to the page below /lab.
	Handler() http.Handler
	// WriteBeside sets the URL of another write-api on the same store.
	WriteBeside(url string)
}
