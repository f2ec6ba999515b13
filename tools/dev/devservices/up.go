package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
	"example.com/threads/tools/dev/devservices/internal/services"
)

// devSystem is the development system: the two services with durable data, and the programs, all in the background.
type devSystem struct {
	settings devSettings
	progress launch.Progress
}

// up starts what does not run, migrates tables and schema, and returns when everything is ready.
func (s devSystem) up(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.endWithTheRows(); err != nil {
		return err
	}
	if err := s.ensureAll(ctx, s.services()); err != nil {
		return err
	}
	if err := s.goRun(ctx, migrations(dynamoDBStore), s.settings.environment()); err != nil {
		return err
	}
	for _, program := range s.programs() {
		if err := s.background().Ensure(ctx, program); err != nil {
			return err
		}
	}
	return nil
}

// endWithTheRows stops the database and the updater if the database's folder was removed. The database has no data to
// serve, and the updater would continue from its position without the rows of earlier events. After a restart on an
// empty database the updater rebuilds all rows from the journal.
func (s devSystem) endWithTheRows() error {
	if _, err := os.Stat(filepath.Join(s.settings.folder, services.MySQLName)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, program := range append(s.services(), s.programs()...) {
		if program.Name == services.MySQLName || program.Name == updater {
			if _, err := s.background().Stop(program); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureAll starts programs at the same time. If one fails, the others continue, so that the next run finds them.
func (s devSystem) ensureAll(ctx context.Context, programs []launch.Program) error {
	errs := make([]error, len(programs))
	var starting sync.WaitGroup
	for i, program := range programs {
		starting.Go(func() { errs[i] = s.background().Ensure(ctx, program) })
	}
	starting.Wait()
	return errors.Join(errs...)
}

// down stops what up started, programs first, and keeps the data.
func (s devSystem) down(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	all := append(s.services(), s.programs()...)
	slices.Reverse(all)
	for _, program := range all {
		stopped, err := s.background().Stop(program)
		switch {
		case err != nil:
			return err
		case stopped:
			s.progress("%s stopped", program.Name)
		default:
			s.progress("%s was not running", program.Name)
		}
	}
	return nil
}

func (s devSystem) lock(ctx context.Context) (unlock func(), err error) {
	return launch.Lock(ctx, filepath.Join(s.settings.folder, "lock"), s.progress)
}

func (s devSystem) background() launch.Background {
	return launch.Background{Folder: s.settings.folder, Progress: s.progress}
}

func (s devSystem) services() []launch.Program {
	at := func(name string, port int) services.Instance {
		return services.Instance{Port: port, Folder: filepath.Join(s.settings.folder, name), Durable: true}
	}
	dynamoDB := services.DynamoDB(at(services.DynamoDBName, s.settings.dynamoDBPort), s.progress)
	dynamoDB.PortAdvice = "set DEV_DYNAMODB_PORT to a free port"
	mySQL := services.MySQL(at(services.MySQLName, s.settings.mySQLPort), s.progress)
	mySQL.PortAdvice = "set DEV_MYSQL_PORT to a free port"
	mySQL.Advice = fmt.Sprintf("Where its data is damaged: rm -r %s, and make dev-up again. That is safe: the rows are rebuilt "+
		"from the journal in %s.", s.settings.short(services.MySQLName), s.settings.short(services.DynamoDBName))
	return []launch.Program{dynamoDB, mySQL}
}

// programs are the programs of this clone in the order of starting.
func (s devSystem) programs() []launch.Program {
	var programs []launch.Program
	for _, listener := range listeners {
		name, address := listener.program, s.settings.addresses[listener.program]
		binary := filepath.Join(s.settings.folder, "bin", name)
		programs = append(programs, launch.Program{
			Name: name, Mark: binary, Env: s.settings.environment(), Port: portOf(address),
			PortAdvice: "set " + listener.variable + " to another address, such as :29090",
			Ready:      func(ctx context.Context) error { return healthy(ctx, localURL(address)+"/health/ready") },
			Prepare: func(ctx context.Context) ([]string, error) {
				s.progress("building %s", name)
				return []string{binary}, s.goTool(ctx, os.Environ(), "build", "-o", binary, "./cmd/"+name)
			},
		})
	}
	return programs
}

func healthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return nil
}

// dynamoDBStore is the value of EVENT_STORE for DynamoDB, which is also the default.
const dynamoDBStore = "dynamodb"

// migrations are the programs that migrate tables and schema for this value of EVENT_STORE. They do not change existing
// tables. DynamoDB has tables only if it is the event store.
func migrations(eventStore string) [][]string {
	schema := []string{"./rdb-migration/cmd/migrate", "up"}
	if eventStore != "" && eventStore != dynamoDBStore {
		return [][]string{schema}
	}
	return [][]string{{"./tools/dynamodb-setup"}, schema}
}

// migrate runs the migrations on the databases in this process's environment, for example on AWS, or else on the
// development services.
func (s devSystem) migrate(ctx context.Context) error {
	if os.Getenv("DATABASE_URL") == "" {
		return s.goRun(ctx, migrations(dynamoDBStore), s.settings.environment())
	}
	return s.goRun(ctx, migrations(os.Getenv("EVENT_STORE")), os.Environ())
}

func (s devSystem) goRun(ctx context.Context, migrations [][]string, env []string) error {
	for _, migration := range migrations {
		s.progress("migrating with %s", migration[0])
		if err := s.goTool(ctx, env, append([]string{"run"}, migration...)...); err != nil {
			return err
		}
	}
	return nil
}

func (s devSystem) goTool(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.settings.root
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %v: %w", args, err)
	}
	return nil
}
