package dev

import (
	"context"

	"golang.org/x/sync/errgroup"

	"example.com/threads/tools/devservices/internal/dynamodblocal"
	"example.com/threads/tools/devservices/internal/launch"
	"example.com/threads/tools/devservices/internal/mysqlserver"
)

func (m Manager) services() []member {
	return []member{m.dynamoDB(), m.mySQL()}
}

func (m Manager) dynamoDB() member {
	port, folder := m.Settings.DynamoDBPort, m.Settings.dataFolder(dynamodblocal.Name)
	return member{
		known: launch.Program{Name: dynamodblocal.Name, Mark: folder, Ready: dynamodblocal.Ready(port)},
		port:  port,
		hint:  "set DEV_DYNAMODB_PORT to a free port",
		startable: func(ctx context.Context) (launch.Program, error) {
			server, err := dynamodblocal.Obtain(ctx, m.Progress, m.PreferDocker)
			if err != nil {
				return launch.Program{}, err
			}
			return server.Program(port, folder, true), nil
		},
	}
}

func (m Manager) mySQL() member {
	port, folder := m.Settings.MySQLPort, m.Settings.dataFolder(mysqlserver.Name)
	return member{
		known: launch.Program{Name: mysqlserver.Name, Mark: folder, Ready: mysqlserver.Ready(port)},
		port:  port,
		hint:  "set DEV_MYSQL_PORT to a free port",
		startable: func(ctx context.Context) (launch.Program, error) {
			server, err := mysqlserver.Obtain(ctx, m.Progress, m.PreferDocker)
			if err != nil {
				return launch.Program{}, err
			}
			return server.Program(port, folder, true), nil
		},
	}
}

func (m Manager) startServices(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, service := range m.services() {
		group.Go(func() error { return m.ensure(ctx, service) })
	}
	return group.Wait()
}
