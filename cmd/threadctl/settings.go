package main

import (
	"example.com/threads/cmd/internal/erasure"
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
)

// storeSettings are read from the environment.
type storeSettings struct {
	store         eventstore.Settings
	erasure       erasure.Settings
	snapshotEvery int
	logging       program.Logging
}

func readSettings(r *config.Reader) (s storeSettings) {
	s.store = eventstore.ReadSettings(r)
	s.erasure = erasure.ReadSettings(r, "")
	s.snapshotEvery = writeapi.ReadSnapshotEvery(r)
	s.logging = program.ReadLoggingWith(r, "error", "text")
	return s
}

// rowSettings are the settings of commands that need the read model.
type rowSettings struct {
	storeSettings
	databaseURL string
}

func readRowSettings(r *config.Reader) rowSettings {
	return rowSettings{databaseURL: stores.ReadDatabaseURL(r), storeSettings: readSettings(r)}
}
