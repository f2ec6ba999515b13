package main

import (
	"context"
	"time"
)

// measure produces the readings of some rows, once per run.
type measure struct {
	name      string
	services  bool // it needs DynamoDB Local and MySQL or MariaDB
	inProcess bool // it measures the library in this process, not the programs
	read      func(context.Context, *lab) ([]reading, error)
}

var measures = []measure{
	{"write.sqlite", false, false, writeSQLite},
	{"write.costs", false, false, costs},
	{"write.growth", false, false, writeGrowth},
	{"projection", false, false, projections},
	{"query", false, false, queries},
	{"query.document", false, false, documents},
	{"start", false, false, starts},
	{"write.distinct", true, true, writeDistinct},
	{"write.hot", true, true, writeHot},
	{"write.growth.units", true, true, writeUnits},
	{"projection.dynamodb", true, false, projectionDynamoDB},
}

// lab is the place of a run.
type lab struct {
	folder   string        // for this run only
	binaries string        // folder of the built programs
	duration time.Duration // how long to measure
	warmUp   time.Duration
}
