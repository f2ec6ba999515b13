package accountcodec

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
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

// snapshotFormat is the version of the JSON that is written today.
const snapshotFormat = 1

// Snapshots is the codec of accounts' states.
type Snapshots struct{}

// Size is about how many bytes a state takes in memory.
func (Snapshots) Size(account.Account) int { return 500 }

// Encode writes a state as JSON.
func (Snapshots) Encode(id string, version uint64, state account.Account) ([]byte, error) {
	m := state.Memento()
	return json.Marshal(wireSnapshot{
		Format: snapshotFormat, ID: id, Name: m.Name.String(), Closed: m.Closed, Erased: m.Erased, Version: version,
	})
}

// Decode reads a state, its version and whose it is. What it can't read, a newer format included, is an error: replay
// from an older snapshot or from the first event instead.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state account.Account, err error) {
	var w wireSnapshot
	if err = json.Unmarshal(payload, &w); err == nil {
		id, err = w.check()
	}
	if err != nil {
		return "", 0, state, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // no fault of the one who asks
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
	return canonicalID(w.ID)
}
