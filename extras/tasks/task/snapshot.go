package task

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
)

// wireSnapshot is the state of a  Fields may be added if their absence keeps its meaning; any other change needs a
// new format.
type wireSnapshot struct {
	Format    int    `json:"format"`
	ID        string `json:"id"`
	CreatedBy string `json:"created_by"`
	Status    string `json:"status"`
	wireProgress
	Version uint64 `json:"version"`
}

const snapshotFormat = 1

// Snapshots is the codec of tasks' snapshots.
type Snapshots struct{}

// Size returns the approximate memory that a state takes, in bytes.
func (Snapshots) Size(Task) int { return 500 }

// Encode encodes the state of the task at the version.
func (Snapshots) Encode(id string, version uint64, state Task) ([]byte, error) {
	m := state.Memento()
	return json.Marshal(wireSnapshot{
		Format: snapshotFormat, ID: id, CreatedBy: m.Creator.String(), Status: string(m.Status), wireProgress: progressOf(m.Progress), Version: version,
	})
}

// Decode decodes a snapshot.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state Task, err error) {
	var w wireSnapshot
	if err = json.Unmarshal(payload, &w); err == nil {
		id, state, err = w.read()
	}
	if err != nil {
		return "", 0, Task{}, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	return id, w.Version, state, nil
}

func (w wireSnapshot) read() (id string, state Task, err error) {
	switch {
	case w.Format > snapshotFormat:
		return "", state, fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat)
	case w.Status == "" || w.Version == 0:
		return "", state, errors.New("status and version must be there")
	}
	m := Memento{Status: Status(w.Status)}
	if m.Creator, err = ident.Parse[ident.UserAccount](w.CreatedBy); err != nil {
		return "", state, err
	}
	if m.Progress, err = w.progress(); err != nil {
		return "", state, err
	}
	id, err = ident.Canonical(w.ID)
	return id, m.Task(), err
}
