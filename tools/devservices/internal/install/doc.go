// Package install brings what a machine lacks: Debian packages, files from the internet, and the
// answer to whether Docker would do instead. dynamodblocal and mysqlserver say what they need.
package install

// Progress tells the user, in one line, what takes its time now.
type Progress func(format string, args ...any)
