package dev

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"example.com/threads/tools/devservices/internal/launch"
)

// programs are the three programs of the system, in the order they are started.
func (m Manager) programs() []member {
	return []member{
		m.program("write-api", "WRITE_API_ADDR", m.Settings.WriteAPI),
		m.program("read-model-updater", "UPDATER_ADDR", m.Settings.Updater),
		m.program("read-api", "READ_API_ADDR", m.Settings.ReadAPI),
	}
}

func (m Manager) program(name, variable, address string) member {
	binary := filepath.Join(m.Settings.Root, "bin", name)
	program := launch.Program{
		Name: name, Mark: binary, Argv: []string{binary}, Env: m.Settings.environment(),
		Ready: func(ctx context.Context) error { return healthy(ctx, localURL(address)+"/health/ready") },
	}
	return member{
		known: program,
		port:  portOf(address),
		hint:  "set " + variable + " to another address, such as :29090",
		startable: func(ctx context.Context) (launch.Program, error) {
			return program, m.build(ctx, name)
		},
	}
}

func healthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return nil
}

// localURL is where a program that listens on this address can be asked from this machine.
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

// portOf returns the port of an address that the settings have checked.
func portOf(address string) int {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return port
}
