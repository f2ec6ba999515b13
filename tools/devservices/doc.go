// Command devservices finds or installs, starts and stops the two services that this project needs
// on a developer's machine: DynamoDB Local and MySQL or MariaDB. It works with and without Docker, on
// Linux and macOS.
//
//	devservices exec -- go test ./...   services for one command, gone afterwards (make test)
//	devservices up                      services and the three programs, in the background (make dev-up)
//	devservices migrate                 tables and schema (make migrate)
//	devservices down                    stops them (make dev-down)
package main
