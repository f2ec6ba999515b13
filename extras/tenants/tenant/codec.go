package tenant

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tenants' events. Every version ever written stays readable and has a golden file in
// testdata.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical, event[Created]("TenantCreated"), event[Suspended]("TenantSuspended"), event[Reactivated]("TenantReactivated"))
}

// event is the codec of a type of events. Their JSON has the code; the tenant in the envelope has the empty code.
func event[T interface {
	Event
	~struct{ Code Code }
}](name string) es.EventType[Event] {
	type wire struct {
		Code string `json:"code"`
	}
	return es.Event[Event](name,
		func(e T) wire { return wire{struct{ Code Code }(e).Code.String()} },
		func(w wire) (T, error) {
			code, err := ParseCode(w.Code)
			return T{Code: code}, err
		})
}

// wireSnapshot is the JSON of a state.
type wireSnapshot struct {
	Format    int    `json:"format"`
	ID        string `json:"id"`
	Code      string `json:"code"`
	Suspended bool   `json:"suspended,omitempty"`
	Version   uint64 `json:"version"`
}

// snapshotFormat is the current version of the JSON.
const snapshotFormat = 1

// Snapshots is the codec of tenants' states.
type Snapshots struct{}

// Size estimates the bytes that a state takes in memory.
func (Snapshots) Size(Tenant) int { return 500 }

// Encode encodes a state as JSON.
func (Snapshots) Encode(id string, version uint64, state Tenant) ([]byte, error) {
	return json.Marshal(wireSnapshot{Format: snapshotFormat, ID: id, Code: state.code.String(), Suspended: state.suspended, Version: version})
}

// Decode decodes a state, its version and its tenant's id. It fails for anything else, for example another format: use
// an older snapshot or the events instead.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state Tenant, err error) {
	var w wireSnapshot
	if err = json.Unmarshal(payload, &w); err == nil {
		state, err = w.state()
	}
	if err == nil {
		id, err = ident.Canonical(w.ID)
	}
	if err != nil {
		return "", 0, Tenant{}, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	return id, w.Version, state, nil
}

func (w wireSnapshot) state() (Tenant, error) {
	code, err := ParseCode(w.Code)
	switch {
	case w.Format != snapshotFormat:
		err = fmt.Errorf("its format is %d, not %d", w.Format, snapshotFormat)
	case w.Version == 0:
		err = errors.New("version is missing")
	}
	return Tenant{code: code, suspended: w.Suspended}, err
}
