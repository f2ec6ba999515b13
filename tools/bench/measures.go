package main

import (
	"context"
	"time"
)

// measure produces the readings of some rows, once per run.
type measure struct {
	name     string
	services bool // it needs DynamoDB Local and MySQL or MariaDB
	read     func(context.Context, *lab) ([]reading, error)
}

var measures = []measure{
	{"write.sqlite", false, writeSQLite},
	{"write.costs", false, costs},
	{"write.growth", false, writeGrowth},
	{"projection", false, projections},
	{"query", false, queries},
	{"query.document", false, documents},
	{"start", false, starts},
	{"write.distinct", true, writeDistinct},
	{"write.hot", true, writeHot},
	{"write.growth.units", true, writeUnits},
	{"projection.dynamodb", true, projectionDynamoDB},
}

// lab is the place of a run.
type lab struct {
	folder   string        // for this run only
	binaries string        // folder of the built programs
	duration time.Duration // how long to measure
	warmUp   time.Duration
}
