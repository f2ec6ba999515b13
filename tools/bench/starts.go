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

// starts measures how fast the standalone program starts on a folder with data, and its idle memory.
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
	memory, err := resident(ctx, system.processes[0].Process.Pid)
	if err != nil {
		return nil, err
	}
	idle, err := idleMemory(ctx)
	return []reading{
		{"start.cold", "ms", millis(cold), millis(help), "the same program printing its help", "DynamoDB, MySQL"},
		{"memory.idle", "MiB", memory, idle, "a program that only listens", "DynamoDB, MySQL"},
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

// idleMemory returns the memory of a program that only listens.
func idleMemory(ctx context.Context) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	process := exec.CommandContext(ctx, self, idleCommand)
	output, err := process.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := process.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = process.Process.Kill(); _ = process.Wait() }()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return 0, err
	}
	return resident(ctx, process.Process.Pid)
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
