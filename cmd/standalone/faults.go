// extra:lab

package main

import (
	"context"
	"log/slog"
	"net/http"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	esrun "example.com/threads/es/run"
)

// failureLab is the failure lab of a program that was built with the tag lab; see lab.go.
type failureLab interface {
	esrun.Faults
	// Gateway wraps the write-api's event store.
	Gateway(es.Store) es.Store
	// Handler serves the lab to the page below /lab.
	Handler() http.Handler
	// WriteBeside sets the URL of another write-api on the same store.
	WriteBeside(url string)
}

// addLab adds the lab's faults between the servers and their ports, and starts a second writer.
func (y *servers) addLab(
	ctx context.Context, lab failureLab, s settings, opened *eventstore.Store, log *slog.Logger,
) (*eventstore.Store, error) {
	y.lab, y.labPage = lab, lab.Handler()
	writeSettings := s.write
	writeSettings.Address = "127.0.0.1:0"
	var err error
	if y.second, err = writeapi.Listen(ctx, writeSettings, opened, log); err != nil {
		return nil, err
	}
	y.writers = append(y.writers, y.second)
	lab.WriteBeside(y.second.URL())
	faulty := *opened
	faulty.Gateway = lab.Gateway(opened.Gateway)
	return &faulty, nil
}
