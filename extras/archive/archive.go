// Package archive lets the programs read old events from the files of an archive, once they are not in the journal.
package archive

import (
	"fmt"
	"os"

	"example.com/threads/es/archive"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
)

// Folder is that of the archive; "": there is none.
type Folder string

func ReadFolder(r *config.Reader) Folder {
	const help = "folder with the events that are no longer in the event store, the same for all programs; without it there is no archive"
	return config.Parsed(r.Group("Archive (extras/archive)"), "ARCHIVE_DIR", "", help, func(path string) (Folder, error) {
		if info, err := os.Stat(path); path != "" && (err != nil || !info.IsDir()) {
			return "", fmt.Errorf("%q is no folder, and must be there before: an empty one would make old events look lost", path)
		}
		return Folder(path), nil
	})
}

// Behind puts the archive behind a store; nil: it could not be opened.
func (f Folder) Behind(store *eventstore.Store) {
	if f != "" && store != nil {
		store.Gateway = &archive.Store{Store: store.Gateway, Folder: string(f)}
	}
}
