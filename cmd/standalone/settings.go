package main

import (
	"fmt"
	"os"
	"path/filepath"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/program"
	"example.com/threads/cmd/internal/readapi"
	"example.com/threads/cmd/internal/updater"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/extras/access"             // extra:access
	"example.com/threads/extras/erasure"            // extra:erasure
	"example.com/threads/extras/page"               // extra:page
	"example.com/threads/extras/publishing"         // extra:publishing
	"example.com/threads/extras/publishing/webhook" // extra:publishing
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/infrastructure/tracing"
)

const about = `
The whole system in one process: a page, commands over REST, queries over GraphQL, events and read model in SQLite
files. Acknowledged commands survive a crash of the process and of the machine. If the read model's file is missing, it
is rebuilt from the events. SIGINT (Ctrl-C) and SIGTERM end it once the accepted requests are answered.
`

// The database files in DATA_DIR.
const (
	eventsFile    = "events.db"
	readModelFile = "readmodel.db"
)

// settings are read from the environment.
type settings struct {
	folder       string
	write        writeapi.Settings
	snapshotKeep int
	read         readapi.Settings
	updater      updater.Settings
	erasure      erasure.Settings    // extra:erasure
	publishing   publishing.Settings // extra:publishing
	web          page.Settings       // extra:page
	access       access.Settings     // extra:access
	lab          failureLab          // extra:lab
	logging      program.Logging
	tracing      tracing.Settings
}

func readSettings(r *config.Reader) settings {
	s := settings{
		folder:       r.String("DATA_DIR", "data", "folder of the files events.db and readmodel.db; only one standalone program may use it at a time"),
		write:        writeapi.ReadSettings(r),
		snapshotKeep: eventstore.ReadSnapshotKeep(r),
		read:         readapi.ReadSettings(r),
		updater:      updater.ReadSettings(r),
		web:          page.ReadSettings(r),   // extra:page
		access:       access.ReadSettings(r), // extra:access
		lab:          readLab(r),             // extra:lab
		logging:      program.ReadLoggingWith(r, "warn", "text"),
		tracing:      tracing.ReadSettings(r),
	}
	s.access.ReadLive(r)                                                        // extra:access
	s.erasure = erasure.ReadSettings(r, filepath.Join(s.folder, "erasure.key")) // extra:erasure
	s.publishing = publishing.ReadSettings(r, webhook.Kind)                     // extra:publishing
	s.updater.Commands = s.write.CommandSettings                                // extra:tasks
	s.write.Measurements.Profiles = metrics.ReadProfiles(r)
	s.updater.RebuildAuto = updater.ReadRebuild(r, updater.RebuildAuto, updater.RebuildManual)
	return s
}

func (s settings) eventStore() eventstore.Settings {
	return eventstore.Settings{Kind: stores.SQLite, URL: s.file(eventsFile), SnapshotKeep: s.snapshotKeep}
}

func (s settings) readModel() string { return s.file(readModelFile) }

func (s settings) file(name string) string { return "sqlite:" + filepath.Join(s.folder, name) }

// makeFolder creates the folder and checks that files can be created in it.
func (s settings) makeFolder() error {
	const advice = "make it writable for this user, or set DATA_DIR to another folder"
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return fmt.Errorf("the folder for the data can't be made; %s: %w", advice, err)
	}
	probe, err := os.CreateTemp(s.folder, ".writable-*")
	if err != nil {
		return fmt.Errorf("the folder %s can't be written to; %s: %w", s.folder, advice, err)
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}
