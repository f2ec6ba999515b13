package tenants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Database is the database of the tenants with these codes.
type Database struct{ Codes, URL string }

// Databases has the databases of some tenants. All other tenants are in the main database.
type Databases map[es.Tenant]Database

func ReadDatabases(r *config.Reader) Databases {
	const help = "with the same value in all programs: tenants whose rows are not in the database of all others, such as acme=URL globex,initech=URL"
	return config.Parsed(r.Group("Tenants (extras/tenants)"), "TENANT_DATABASES", "", help, ParseDatabases)
}

// RefuseDatabases reports the setting as wrong in a program that writes all rows into one database.
func RefuseDatabases(r *config.Reader) {
	config.Parsed(r.Group("Tenants (extras/tenants)"), "TENANT_DATABASES", "", "not for this program, which knows one database", func(text string) (_ struct{}, err error) {
		if text != "" {
			err = errors.New("this program knows one database")
		}
		return struct{}{}, err
	})
}

// ParseDatabases parses entries such as acme,globex=URL, separated by spaces. Its errors contain no URL.
func ParseDatabases(text string) (Databases, error) {
	all := Databases{}
	for i, entry := range strings.Fields(text) {
		codes, url, _ := strings.Cut(entry, "=")
		if _, err := database.DriverOf(url); err != nil || !all.In(url)("") {
			return nil, fmt.Errorf("entry %d is not of the form tenant=URL or tenant,tenant=URL with the URL of a database that no other entry has", i+1)
		}
		for code := range strings.SplitSeq(codes, ",") {
			switch tenant, err := es.ParseTenant(code); {
			case err != nil || tenant == "": // not shown, because it may be a part of a password
				return nil, fmt.Errorf("entry %d has a tenant that is not 1 to 32 characters out of a-z, 0-9 and -", i+1)
			case all[tenant].URL != "":
				return nil, fmt.Errorf("entry %d has the tenant %s again", i+1, tenant)
			default:
				all[tenant] = Database{codes, url}
			}
		}
	}
	return all, nil
}

// In returns which tenants are in the database of a URL. It is the main one if it is none of these.
func (t Databases) In(url string) func(es.Tenant) bool {
	own := Database{}
	for _, other := range t {
		if serverOf(other.URL) == serverOf(url) {
			own = other
		}
	}
	return func(tenant es.Tenant) bool { return t[tenant] == own }
}

// serverOf returns where the database of a URL is: its server, with the port, and its name there, or its file.
func serverOf(url string) string {
	place, _, _ := strings.Cut(url, "?")
	for _, kind := range []string{"sqlite:", "file:"} {
		if file, is := strings.CutPrefix(place, kind); is {
			if path, err := filepath.Abs(file); err == nil {
				return path
			}
			return file
		}
	}
	if server, err := mysql.ParseDSN(url); err == nil {
		return server.Addr + "/" + server.DBName
	}
	return place
}

// Places chooses the database of each reading and wait by its tenant. It is safe for concurrent use.
type Places struct {
	main query.Watcher
	all  map[Database]*place
	of   map[es.Tenant]*place
	log  *slog.Logger
}

// place is the database of some tenants, and the watcher of the versions in it.
type place struct {
	*projection.Watcher
	db *sqlx.DB
}

// Open returns the places of all tenants, also if their databases don't answer yet. main watches the main database.
func (t Databases) Open(ctx context.Context, main query.Watcher, log *slog.Logger, tracer trace.TracerProvider) (*Places, error) {
	p := &Places{main: main, all: map[Database]*place{}, of: map[es.Tenant]*place{}, log: log}
	for tenant, at := range t {
		if p.all[at] == nil {
			db, err := database.Open(ctx, at.URL, database.Settings{Later: true, Tracer: tracer, Logger: log})
			if err != nil {
				return nil, err
			}
			p.all[at] = &place{projection.NewWatcher(queryreader.New(db).Versions, log), db}
		}
		p.of[tenant] = p.all[at]
	}
	return p, nil
}

// Run watches versions in the places until ctx ends, and closes their databases.
func (p *Places) Run(ctx context.Context) {
	var watching sync.WaitGroup
	for _, place := range p.all {
		watching.Go(func() { place.Run(ctx); _ = place.db.Close() })
	}
	watching.Wait()
}

// Around runs a reading in the database of its caller's tenant; main runs it in the main database.
func (p *Places) Around(main queryreader.Run) queryreader.Run {
	return func(ctx context.Context, reading queryreader.Reading) error {
		if place := p.of[graphql.PrincipalOf(ctx).Tenant]; place != nil {
			return reading(ctx, place.db)
		}
		return main(ctx, reading)
	}
}

func (p *Places) watcher(tenant es.Tenant) query.Watcher {
	if place := p.of[tenant]; place != nil {
		return place
	}
	return p.main
}

// Await implements [query.Watcher].
func (p *Places) Await(ctx context.Context, least map[es.AggregateID]uint64) error {
	for key, version := range least {
		if err := p.watcher(key.Tenant).Await(ctx, map[es.AggregateID]uint64{key: version}); err != nil {
			return err
		}
	}
	return nil
}

// AwaitChange implements [query.Watcher].
func (p *Places) AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error {
	return p.watcher(key.Tenant).AwaitChange(ctx, key, after)
}

// Waiting returns how many callers wait now, beside those in the main database.
func (p *Places) Waiting() (callers int) {
	for _, place := range p.all {
		callers += place.Waiting()
	}
	return callers
}

// Report warns of each database that can't be used. The program stays ready for the tenants of the others.
func (p *Places) Report(ctx context.Context, health *httpserver.Health) {
	for at, place := range p.all {
		ctx, cancel := context.WithTimeout(ctx, time.Second/4)
		if _, err := rowstore.ReadReport(ctx, place.db, chatrows.Projection); err != nil {
			p.log.WarnContext(ctx, "a database of TENANT_DATABASES can't be used", "tenants", at.Codes, "error", err)
			health.Warn("a database of TENANT_DATABASES can't be used, the log says which: its tenants' queries are UNAVAILABLE")
		}
		cancel()
	}
}
