// Package system holds what the programs share: the aggregate types and rows that they know, and parts of servers.
package system

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup" // extra:access|observe

	"example.com/threads/es/projection"
	"example.com/threads/extras/access"  // extra:access
	"example.com/threads/extras/erasure" // extra:erasure
	"example.com/threads/extras/observe" // extra:observe
	"example.com/threads/extras/tenants" // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/infrastructure/logging"
)

// Settings are those that all servers have.
type Settings struct {
	Logging logging.Settings
	Observe observe.Settings // extra:observe
	Access  access.Settings  // extra:access
	Tenants tenants.Settings // extra:tenants
}

// ReadSettings reads them. The log has these defaults.
func ReadSettings(r *config.Reader, level, format string) (s Settings) {
	s.Logging = logging.ReadSettings(r, level, format)
	s.Observe = observe.ReadSettings(r) // extra:observe
	s.Access = access.ReadSettings(r)   // extra:access
	s.Tenants = tenants.ReadSettings(r) // extra:tenants
	r.Unknown("AUTH", "none", "this program was made without access control (extras/access) and trusts every caller")
	return s
}

// Parts are what the servers of a program are made with.
type Parts struct {
	Log      *slog.Logger
	Registry *prometheus.Registry
	Tracer   trace.TracerProvider // nil: no traces
	Observer *observe.Observer    // extra:observe
	Access   *access.Access       // extra:access
	Keys     *erasure.Keyring     // extra:erasure
	Tenants  tenants.Settings     // extra:tenants
}

// New returns the parts. The log goes to stdout.
func New(s Settings, stdout io.Writer) Parts {
	return Parts{
		Log: s.Logging.Logger(stdout), Registry: httpserver.NewRegistry(),
		Tenants: s.Tenants, // extra:tenants
	}
}

// Open adds the parts that connect to others, in a program of this name. Close ends them. // extra:access|observe {
func (p *Parts) Open(ctx context.Context, name string, s Settings) (err error) {
	if p.Observer, err = observe.Start(ctx, s.Observe, name, p.Registry, p.Log); err != nil { // extra:observe {
		return err
	}
	p.Tracer = p.Observer.Provider                    // extra:observe }
	p.Access, err = access.Open(ctx, s.Access, p.Log) // extra:access
	return err
}

// Run works for the servers until ctx ends.
func (p Parts) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.Observer.Run(ctx) }) // extra:observe
	group.Go(func() error { return p.Access.Run(ctx) })   // extra:access
	return group.Wait()
}

// Close releases what Open took.
func (p Parts) Close() {
	p.Observer.Stop()    // extra:observe
	_ = p.Access.Close() // extra:access
} // extra:access|observe }

// Anew returns the parts for one more server of the program, which has metrics of its own.
func (p Parts) Anew() Parts {
	p.Registry = httpserver.NewRegistry()
	return p
}

// Listen takes the address of an API, whose name setting is.
func (p Parts) Listen(ctx context.Context, setting, address string) (*httpserver.Server, error) {
	server, err := httpserver.Listen(ctx, p.Log, setting, address)
	if err == nil { // extra:access|observe {
		p.Observer.Watch(server) // extra:observe
		p.Access.Protect(server) // extra:access
	} // extra:access|observe }
	return server, err
}

// ReportLag adds how far the read model is behind the journal.
func ReportLag(health *httpserver.Health, lag projection.Lag) {
	health.Set("behind_seconds", lag.Behind.Seconds())
	health.Set("behind_records", lag.Records)
	health.Set("behind_at_least", lag.AtLeast) // the values above are lower bounds
}

// CheckCaughtUp makes a program unready until the read model has caught up with the journal once.
func CheckCaughtUp(health *httpserver.Health, caughtUp bool, lag projection.Lag) {
	if caughtUp {
		health.Check("read_model", nil)
		return
	}
	more := ""
	if lag.AtLeast {
		more = " or more"
	}
	health.Check("read_model", httpserver.Public(fmt.Sprintf("the read model has not caught up with the journal since its tables were made: "+
		"it is %.1f s and %d records%s behind; wait while the read-model-updater fills it", lag.Behind.Seconds(), lag.Records, more)))
}
