package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/threads/tools/dev/devservices/internal/services"
)

// devSettings describe where the development system is.
type devSettings struct {
	root                    string // of the clone; absolute
	folder                  string // of logs, pid files, data and built programs; absolute
	dynamoDBPort, mySQLPort int
	addresses               map[string]string // that programs listen on, by program
	publishURL              string            // of the broker that gets the events; empty: nothing is published
	auth, issuer            string            // AUTH and AUTH_ISSUER of the programs
}

const updater = "read-model-updater"

// listeners are the programs in the order of starting, with the variable of their address and its default.
var listeners = []struct{ program, variable, address string }{
	{"write-api", "WRITE_API_ADDR", ":28080"},
	{updater, "UPDATER_ADDR", ":28081"},
	{"read-api", "READ_API_ADDR", ":28082"},
	{"web", "WEB_ADDR", ":28083"}, // extra:page
}

// readSettings reads the ports and addresses from the environment. root is the clone's folder.
func readSettings(root string, getenv func(string) string) (devSettings, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return devSettings{}, err
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return devSettings{}, fmt.Errorf("run this in the folder of go.mod: %w", err)
	}
	s := devSettings{
		root: root, folder: filepath.Join(root, "data", "dev"), addresses: map[string]string{},
		publishURL: getenv("DEV_PUBLISH_URL"), auth: getenv("AUTH"), issuer: getenv("AUTH_ISSUER"),
	}
	var wrong []error
	read := func(name, value, before, want string) string {
		if set := getenv(name); set != "" {
			value = set
		}
		if portOf(before+value) == 0 {
			wrong = append(wrong, fmt.Errorf("%s is %q: set it to %s", name, value, want))
		}
		return value
	}
	port := func(name, value string) int {
		return portOf(":" + read(name, value, ":", "a port, 1 to 65535"))
	}
	s.dynamoDBPort = port("DEV_DYNAMODB_PORT", "28000")
	s.mySQLPort = port("DEV_MYSQL_PORT", "23306")
	for _, l := range listeners {
		s.addresses[l.program] = read(l.variable, l.address, "", "host:port of this machine, such as :29090")
	}
	return s, errors.Join(wrong...)
}

// environment returns the environment of programs and migrations. It overrides variables that name the data, because
// this process's environment may name the data of another system. The credentials are valid only here. Other variables,
// such as LOG_LEVEL and SNAPSHOT_EVERY, are kept.
func (s devSettings) environment() []string {
	endpoint := services.Endpoint(s.dynamoDBPort)
	env := append(withoutAWS(os.Environ()),
		"AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_ENDPOINT_URL_DYNAMODB="+endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS="+endpoint,
		"EVENT_STORE="+dynamoDBStore,
		"EVENT_STORE_URL=", // an empty variable counts as not set
		"JOURNAL_TABLE=",
		"SNAPSHOT_TABLE=",
		"KEY_TABLE=",
		"SHARD_COUNT=",  // depends on the existing data
		"METRICS_ADDR=", // only one program could use it
		"READ_DATABASE_URL=",
		"TENANT_DATABASES=",
		"PPROF_ADDR=",
		"AUTH_DEV_ADDR=",
		"PUBLISH_URL="+s.publishURL, // a broker that is exported may be that of another system
		"DATABASE_URL="+services.DSN(s.mySQLPort, services.Database),
	)
	for _, listener := range listeners {
		env = append(env, listener.variable+"="+s.addresses[listener.program])
	}
	return append(env,
		"WRITE_API_URL="+localURL(s.addresses["write-api"]), "READ_API_URL="+localURL(s.addresses["read-api"]), "UPDATER_URL="+localURL(s.addresses[updater]))
}

// withoutAWS removes all variables that the AWS SDK reads: profiles, roles, endpoints and others.
func withoutAWS(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "AWS_") })
}

// short returns a path below folder, relative to the clone.
func (s devSettings) short(name string) string {
	path := filepath.Join(s.folder, name)
	if below, err := filepath.Rel(s.root, path); err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}

// localURL returns the URL on this machine of a program with this listening address.
func localURL(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// portOf returns the port of an address; 0: it has no usable port.
func portOf(address string) int {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}
