package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// starts measures how fast the standalone program starts on a folder with data, and what it takes while it is idle.
func starts(ctx context.Context, l *lab) ([]reading, error) {
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { system.stop() }()
	user := ulid.Make().String()
	threads, err := system.newThreads(ctx, user, 32)
	if err != nil {
		return nil, err
	}
	if _, err := system.post(ctx, job{user: user, clients: 32, threads: threads, duration: l.duration, blind: true}); err != nil {
		return nil, err
	}
	system.stop()
	begun := time.Now()
	if system, err = l.start(ctx); err != nil {
		return nil, err
	}
	cold := time.Since(begun)
	begun = time.Now()
	if err := exec.CommandContext(ctx, filepath.Join(l.binaries, "standalone"), "--help").Run(); err != nil {
		return nil, err
	}
	help := time.Since(begun)
	atRest, err := restOf(ctx, system.processes[0].Process.Pid)
	if err != nil {
		return nil, err
	}
	idle, err := restOfAnIdle(ctx)
	const only = "a program that only listens"
	return []reading{
		{"start.cold", "ms", millis(cold), millis(help), "the same program printing its help", "DynamoDB, MySQL"},
		{"memory.idle", "MiB", atRest.memory, idle.memory, only, "DynamoDB, MySQL"},
		{"wakeups.idle", "1/s", atRest.wakeups, idle.wakeups, only, "DynamoDB, MySQL"},
	}, err
}

// idleCommand makes this program listen and do nothing else.
const idleCommand = "idle"

func idle() {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	fmt.Println("listening")
	_ = (&http.Server{ReadHeaderTimeout: time.Second}).Serve(listener) // until it is killed
}

// rest is what a program takes that has nothing to do.
type rest struct{ memory, wakeups float64 } // MiB; a second

// restOfAnIdle returns that of a program that only listens.
func restOfAnIdle(ctx context.Context) (rest, error) {
	self, err := os.Executable()
	if err != nil {
		return rest{}, err
	}
	process := exec.CommandContext(ctx, self, idleCommand)
	output, err := process.StdoutPipe()
	if err != nil {
		return rest{}, err
	}
	if err := process.Start(); err != nil {
		return rest{}, err
	}
	defer func() { _ = process.Process.Kill(); _ = process.Wait() }()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return rest{}, err
	}
	return restOf(ctx, process.Process.Pid)
}

// restOf looks at a process for some seconds. Where the system does not count how often threads were woken, there is 0.
func restOf(ctx context.Context, pid int) (found rest, err error) {
	const seconds = 5
	before := switches(pid)
	select {
	case <-time.After(seconds * time.Second):
	case <-ctx.Done():
	}
	found.wakeups = (switches(pid) - before) / seconds
	found.memory, err = resident(ctx, pid)
	return found, err
}

// resident returns the resident memory of a process in MiB.
func resident(ctx context.Context, pid int) (float64, error) {
	output, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("ps: %w", err)
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	return kib / 1024, err
}

// switches returns how often the threads of a process have waited and were woken.
func switches(pid int) (count float64) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range paths {
		status, _ := os.ReadFile(path)
		if _, line, found := strings.Cut(string(status), "\nvoluntary_ctxt_switches:"); found {
			var waited float64
			_, _ = fmt.Sscan(line, &waited)
			count += waited
		}
	}
	return count
}
