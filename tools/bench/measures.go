package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// measure produces the readings of some rows. labs are the place of this build and, if there is one, of the former one,
// which work in turns.
type measure struct {
	name     string
	services bool // it needs DynamoDB Local and MySQL or MariaDB
	read     func(ctx context.Context, labs []*lab) ([]reading, error)
}

var measures = []measure{
	{"write.sqlite", false, writeSQLite},
	{"write.sqlite.library", false, ofLibrary(writeLibrary)},
	{"write.costs", false, costs},
	{"write.growth", false, writeGrowth},
	{"projection", false, projections},
	{"query", false, queries},
	{"query.document", false, inRuns(documents)},
	{"start", false, inRuns(starts)},
	{"write.distinct", true, writeDistinct},
	{"write.hot", true, writeHot},
	{"write.growth.units", true, ofLibrary(writeUnits)},
	{"projection.dynamodb", true, inRuns(projectionDynamoDB)},
}

// lab is the place of a build in a measure.
type lab struct {
	folder   string        // for this measure only
	binaries string        // folder of the built programs
	prefix   string        // of the names of its readings: former, or empty
	runs     int           // of a measure in runs
	duration time.Duration // how long to measure
	warmUp   time.Duration
	say      func(format string, values ...any)
}

// within returns a lab in a new folder inside the lab's.
func (l *lab) within(name string) (*lab, error) {
	inner := *l
	inner.folder = filepath.Join(l.folder, name)
	return &inner, os.Mkdir(inner.folder, 0o700)
}

// inRuns repeats a measure that starts its own programs: each run measures one build after the other.
func inRuns(read func(context.Context, *lab) ([]reading, error)) func(context.Context, []*lab) ([]reading, error) {
	return func(ctx context.Context, labs []*lab) ([]reading, error) {
		return repeated(labs, func(n, i int) ([]reading, error) {
			run, err := labs[i].within(fmt.Sprint(n))
			if err != nil {
				return nil, err
			}
			return read(ctx, run)
		})
	}
}

// repeated returns what read does in each run of each lab.
func repeated(labs []*lab, read func(run, lab int) ([]reading, error)) (found []reading, err error) {
	for n := range labs[0].runs {
		for i, l := range labs {
			l.say("run %d of %d with %s", n+1, l.runs, filepath.Base(l.binaries))
			readings, err := read(n, i)
			if err != nil {
				return found, err
			}
			for _, r := range readings {
				r.Name = l.prefix + r.Name
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// ofLibrary measures the library in this process, so that there is nothing to compare with.
func ofLibrary(read func(context.Context, *lab) ([]reading, error)) func(context.Context, []*lab) ([]reading, error) {
	return func(ctx context.Context, labs []*lab) ([]reading, error) { return read(ctx, labs[0]) }
}
