// Package services describes the two services that this project needs on a developer's machine, each as a program that
// package launch starts: DynamoDB Local and MySQL or MariaDB. It finds them, or installs them, or borrows them from
// Docker, in this order.
package services

import (
	"fmt"
	"strconv"
)

// Names of the services, in messages, log and pid files.
const (
	DynamoDBName = "dynamodb"
	MySQLName    = "mysql"
)

// Instance is one server of our own.
type Instance struct {
	Port   int    // of 127.0.0.1
	Folder string // of its files, an absolute path; no two servers share one
	// Durable keeps the data: an acknowledged transaction survives a power cut. Otherwise it is quick, for data that is
	// thrown away.
	Durable bool
}

// User, Password and Database exist in every MySQL or MariaDB; the user may do everything.
const (
	User     = "threads"
	Password = "threads"
	Database = "threads"
)

// DSN is the go-sql-driver data source name of a database on this port; "" selects none.
func DSN(port int, database string) string {
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?parseTime=true", User, Password, port, database)
}

// Endpoint is the URL of a DynamoDB Local on this port.
func Endpoint(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }
