// Package dev keeps a development system running in the background, under ./data/dev: DynamoDB Local
// and MySQL or MariaDB with durable data, and the three programs, write-api, read-model-updater and
// read-api, built from this clone. launch starts and finds the processes; dynamodblocal and
// mysqlserver provide the services.
package dev
