package writeapi

import (
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/rest"
)

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  WRITE_API_ADDR             address to listen on (:28080)
  SNAPSHOT_EVERY             number of events after which a thread gets another snapshot (100)
  STORE_TIMEOUT              how long the store may take for a command, retries included; a request is answered within twice that (5s)
  TRUSTED_PROXIES            networks whose X-Forwarded-For tells the client's address, such as 10.0.0.0/8, fd00::/8 (none)
`

// Settings are what the environment says.
type Settings struct {
	Address        string
	SnapshotEvery  int
	StoreTimeout   time.Duration
	TrustedProxies rest.Proxies
}

// ReadSettings reads the variables of Usage.
func ReadSettings(reader *config.Reader) Settings {
	return Settings{
		Address:        reader.Address("WRITE_API_ADDR", ":28080"),
		SnapshotEvery:  reader.Int("SNAPSHOT_EVERY", 100, 1, 1_000_000),
		StoreTimeout:   reader.Duration("STORE_TIMEOUT", 5*time.Second, 100*time.Millisecond, 12*time.Second),
		TrustedProxies: config.Parsed(reader, "TRUSTED_PROXIES", "", rest.ParseProxies),
	}
}
