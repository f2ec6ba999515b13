package main

import (
	"context"
	"log/slog"
	"net/http"

	"example.com/threads/cmd/internal/access"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	store "example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase/erasure"
)

// failureLab is what a program that was built with the tag lab can be asked to contain; see lab.go.
type failureLab interface {
	updater.Faults
	// Gateway is the event store as the write-api sees it.
	Gateway(store.EventPersistenceGateway) store.EventPersistenceGateway
	// Handler serves the lab to the page, below /lab.
	Handler() http.Handler
	// WriteBeside tells the lab where there is another write-api over the same store.
	WriteBeside(url string)
}

// addLab puts the lab's faults between the servers and what they work with, and adds a second writer.
func (y *system) addLab(
	ctx context.Context, lab failureLab, s settings, opened *eventstore.Store, keys *erasure.Keyring, access *access.Access, log *slog.Logger,
) (*eventstore.Store, error) {
	y.lab, y.labPage = lab, lab.Handler()
	settings := s.write
	settings.Address = "127.0.0.1:0"
	var err error
	if y.second, err = writeapi.Listen(ctx, settings, opened, keys, access, log); err != nil {
		return nil, err
	}
	lab.WriteBeside(y.second.URL())
	faulty := *opened
	faulty.Gateway = lab.Gateway(opened.Gateway)
	return &faulty, nil
}
