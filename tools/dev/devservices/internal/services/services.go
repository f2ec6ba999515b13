// Package services describes the two services that this project needs on a developer's machine, as programs for package
// launch: DynamoDB Local and MySQL or MariaDB. It uses installed ones, or installs them, or runs them in Docker, in
// this order.
package services

import (
	"fmt"
	"strconv"
)

// Names of the services in messages and file names.
const (
	DynamoDBName = "dynamodb"
	MySQLName    = "mysql"
)

// Instance is one server.
type Instance struct {
	Port   int    // on 127.0.0.1
	Folder string // of its files, absolute; no two servers share one
	// Durable keeps the data: acknowledged transactions survive a power failure. Otherwise the server is faster, for
	// temporary data.
	Durable bool
}

// User, Password and Database exist in every MySQL or MariaDB; the user has all rights.
const (
	User     = "threads"
	Password = "threads"
	Database = "threads"
)

// DSN returns the go-sql-driver data source name of a database on this port; database "" selects none.
func DSN(port int, database string) string {
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?parseTime=true", User, Password, port, database)
}

// Endpoint returns the URL of DynamoDB Local on this port.
func Endpoint(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }
