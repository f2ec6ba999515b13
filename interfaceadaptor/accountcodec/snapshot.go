package accountcodec

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
)

// wireSnapshot is the JSON of a state.
type wireSnapshot struct {
	Format  int    `json:"format"`
	ID      string `json:"id"`
	Name    string `json:"name"` // empty: erased
	Closed  bool   `json:"closed,omitempty"`
	Erased  bool   `json:"erased,omitempty"`
	Version uint64 `json:"version"`
}

// snapshotFormat is the current version of the JSON.
const snapshotFormat = 1

// Snapshots is the codec of accounts' states.
type Snapshots struct{}

// Size returns the approximate size of a state in memory, in bytes.
func (Snapshots) Size(account.Account) int { return 500 }

// Encode writes a state as JSON.
func (Snapshots) Encode(id string, version uint64, state account.Account) ([]byte, error) {
	m := state.Memento()
	return json.Marshal(wireSnapshot{
		Format: snapshotFormat, ID: id, Name: m.Name.String(), Closed: m.Closed, Erased: m.Erased, Version: version,
	})
}

// Decode returns the id, the version and the state in a snapshot. A snapshot that it can't read, such as one of a newer
// format, is an error: replay from an older snapshot or from the first event instead.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state account.Account, err error) {
	var w wireSnapshot
	if err = json.Unmarshal(payload, &w); err == nil {
		id, err = w.check()
	}
	if err != nil {
		return "", 0, state, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	m := account.Memento{Name: writing.RecordedName(w.Name), Closed: w.Closed, Erased: w.Erased}
	return id, w.Version, m.Account(), nil
}

func (w wireSnapshot) check() (id string, err error) {
	switch {
	case w.Format > snapshotFormat:
		return "", fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat)
	case w.Name == "" && !w.Erased || w.Version == 0:
		return "", errors.New("name and version must be there")
	}
	return ident.Canonical(w.ID)
}
