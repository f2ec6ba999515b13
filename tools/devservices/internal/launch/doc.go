// Package launch starts programs, waits until they are ready, and stops them again.
//
// A program is started in one of two ways. Attached: it ends with this process, however this
// process ends (services for a test run). In the background: it outlives this process, with a log
// and a pid file, and is found again by the next one (services for development).
//
// It knows nothing of databases: dynamodblocal and mysqlserver describe the programs, dev and the
// exec command run them. It needs Linux or macOS.
package launch
