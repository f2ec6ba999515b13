package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// use is what a process has used: since its start, or per command.
type use struct {
	cpu    float64 // milliseconds of a processor
	allocs float64 // allocations on the heap
}

// watched returns a taker that also tells what the process, whose usage is read, used per command.
func watched(read func(context.Context) (use, error), take taker) taker {
	return func(ctx context.Context, duration time.Duration) (load, error) {
		before, err := read(ctx)
		if err != nil {
			return load{}, err
		}
		again, err := read(ctx) // what lies between is the price of reading
		if err != nil {
			return load{}, err
		}
		done, err := take(ctx, duration)
		if err != nil {
			return done, err
		}
		after, err := read(ctx)
		commands := float64(max(done.posted, 1))
		done.use.cpu = (after.cpu - again.cpu) / commands
		done.use.allocs = (after.allocs - again.allocs - (again.allocs - before.allocs)) / commands
		return done, err
	}
}

// usage reads the metrics of the program that takes commands.
func (s *runningSystem) usage(ctx context.Context) (used use, err error) {
	text, err := get(ctx, "http://"+s.writeAddress+"/metrics")
	if err != nil {
		return used, err
	}
	if used.cpu, err = metric(string(text), "process_cpu_seconds_total"); err != nil {
		return used, err
	}
	used.cpu *= 1000
	used.allocs, err = metric(string(text), "go_memstats_mallocs_total")
	return used, err
}

// metric returns the value of a metric without labels.
func metric(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the metrics lack %s", name)
}

// ownUsage is that of this process.
func ownUsage(context.Context) (use, error) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return use{cpu: millis(time.Duration(used.Utime.Nano() + used.Stime.Nano())), allocs: float64(memory.Mallocs)}, err
}
