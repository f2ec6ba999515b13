package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"

	"example.com/threads/tools/dev/devservices/internal/launch"
	"example.com/threads/tools/dev/devservices/internal/services"
)

// The variables that tests read. If a service's variable is set, the service is not started.
const (
	dynamoDBVar = "TEST_DYNAMODB_ENDPOINT"
	mySQLVar    = "TEST_MYSQL_DSN"
)

// service is one service of a run.
type service struct {
	name, variable string
	program        func(services.Instance, launch.Progress) launch.Program
	address        func(port int) string
}

var testServices = []service{
	{services.DynamoDBName, dynamoDBVar, services.DynamoDB, services.Endpoint},
	{services.MySQLName, mySQLVar, services.MySQL, func(port int) string { return services.DSN(port, "") }},
}

// execute starts the services, runs argv with their addresses in its environment, stops the services, and returns
// argv's exit code. When ctx ends, argv is stopped first.
func execute(ctx context.Context, progress launch.Progress, argv []string) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	guard := []string{self, guardCommand}
	folder, remove, err := newFolder()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()

	running, addresses, errs := make([]*launch.Attached, 2), make([]string, 2), make([]error, 2)
	var starting sync.WaitGroup
	for i, one := range testServices {
		if os.Getenv(one.variable) == "" {
			progress("starting %s", one.name)
			starting.Go(func() { running[i], addresses[i], errs[i] = one.start(ctx, progress, guard, folder) })
		}
	}
	if err := services.Compiler(ctx, progress); err != nil {
		progress("no C compiler, which go test -race needs: %v", err)
	}
	starting.Wait()
	env := os.Environ()
	for i, one := range testServices {
		if running[i] != nil {
			defer running[i].Stop()
			env = append(env, one.variable+"="+addresses[i])
			progress("%s=%s", one.variable, addresses[i])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	return launch.Foreground(ctx, guard, argv, env)
}

const attempts = 3

// start starts the service on a port that was free a moment ago. If another program took the port, it tries another
// one.
func (s service) start(
	ctx context.Context, progress launch.Progress, guard []string, folder string,
) (running *launch.Attached, address string, err error) {
	for range attempts {
		var port int
		if port, err = freePort(ctx); err != nil {
			return nil, "", err
		}
		at := services.Instance{Port: port, Folder: filepath.Join(folder, s.name)}
		running, err = launch.StartAttached(ctx, guard, s.program(at, progress), folder)
		if err == nil || ctx.Err() != nil || !launch.PortTaken(ctx, port) {
			return running, s.address(port), err
		}
	}
	return nil, "", err
}

// freePort returns a port for a service, which gets it again when it is started again: the system gives it to no
// connection, and tests use others.
func freePort(ctx context.Context) (int, error) {
	var err error
	for range 100 {
		port := 32_000 + rand.IntN(700) //nolint:gosec // no secret; connections have ports from 32,768 on
		var listener net.Listener
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}
