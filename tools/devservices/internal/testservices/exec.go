package testservices

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"

	"example.com/threads/tools/devservices/internal/dynamodblocal"
	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
	"example.com/threads/tools/devservices/internal/mysqlserver"
)

// The variables that tests read. A service whose variable is set already is not started.
const (
	DynamoDBVar = "TEST_DYNAMODB_ENDPOINT"
	MySQLVar    = "TEST_MYSQL_DSN"
)

// Runner holds what Exec needs to know about the outside.
type Runner struct {
	Progress     install.Progress
	Guard        []string // command line of a process that calls launch.Guard
	PreferDocker bool
}

// Exec starts the services, runs argv with their addresses in its environment, stops them however
// argv ends, and returns its exit code. When ctx ends, argv is ended first.
func (r Runner) Exec(ctx context.Context, argv []string) (code int, err error) {
	folder, remove, err := newFolder()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()

	wanted := []service{
		{variable: DynamoDBVar, start: r.startDynamoDB},
		{variable: MySQLVar, start: r.startMySQL},
	}
	group, starting := errgroup.WithContext(ctx)
	for i := range wanted {
		if os.Getenv(wanted[i].variable) == "" {
			group.Go(func() error { return wanted[i].run(starting, folder) })
		}
	}
	err = group.Wait()
	defer func() {
		for _, service := range wanted {
			service.stop()
		}
	}()
	if err != nil {
		return 0, err
	}

	env := os.Environ()
	for _, service := range wanted {
		if service.running != nil {
			env = append(env, service.variable+"="+service.address)
			r.Progress("%s=%s", service.variable, service.address)
		}
	}
	return launch.Foreground(ctx, r.Guard, argv, env)
}

func (r Runner) startDynamoDB(ctx context.Context, folder string) (*launch.Attached, string, error) {
	server, err := dynamodblocal.Obtain(ctx, r.Progress, r.PreferDocker)
	if err != nil {
		return nil, "", err
	}
	r.Progress("starting DynamoDB Local")
	return r.onFreePort(ctx, folder, func(port int) (launch.Program, string) {
		return server.Program(port, folder+"/"+dynamodblocal.Name, false), dynamodblocal.Endpoint(port)
	})
}

func (r Runner) startMySQL(ctx context.Context, folder string) (*launch.Attached, string, error) {
	server, err := mysqlserver.Obtain(ctx, r.Progress, r.PreferDocker)
	if err != nil {
		return nil, "", err
	}
	r.Progress("starting MySQL or MariaDB")
	return r.onFreePort(ctx, folder, func(port int) (launch.Program, string) {
		return server.Program(port, folder+"/"+mysqlserver.Name, false), mysqlserver.DSN(port, "")
	})
}
