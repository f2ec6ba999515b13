package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/go-sql-driver/mysql"
	"github.com/oklog/ulid/v2"

	"example.com/threads/infrastructure/eventstore/dynamo"
)

// projectionDynamoDB measures the three programs on DynamoDB Local and MySQL or MariaDB.
func projectionDynamoDB(ctx context.Context, l *lab) ([]reading, error) {
	system, tables, env, err := l.startOnDynamoDB(ctx)
	if err != nil {
		return nil, err
	}
	defer system.stop()
	user := ulid.Make().String()
	threads, err := system.newThreads(ctx, user, 8)
	if err != nil {
		return nil, err
	}
	done, err := system.post(ctx, job{user: user, clients: 2, threads: threads, warmUp: l.warmUp, duration: l.duration})
	if err != nil {
		return nil, err
	}
	if err := system.end(1); err != nil { // the updater
		return nil, err
	}
	backlog, err := system.post(ctx, job{user: user, clients: 32, threads: threads, duration: l.duration, blind: true})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := system.launch(l, "read-model-updater", env); err != nil {
		return nil, err
	}
	for _, last := range backlog.last {
		if err := system.awaitVersion(ctx, user, last.Thread, last.Version); err != nil {
			return nil, err
		}
	}
	drained := time.Since(begun)
	system.stop()
	records, took, err := tables.readStream(ctx)
	if err != nil {
		return nil, err
	}
	const again = "the same query of what is visible"
	return []reading{
		{"projection.dynamodb.lag", "ms", percentile(done.visible, 0.5), percentile(done.again, 0.5), again + "; two clients post", local},
		{"projection.dynamodb.lag.p99", "ms", percentile(done.visible, 0.99), percentile(done.again, 0.99), again + "; two clients post", local},
		{"projection.dynamodb.throughput", "events/s", float64(backlog.posted) / drained.Seconds(), float64(records) / took.Seconds(),
			"reading the stream and doing nothing; the program's start is in the figure", local + meanwhile},
	}, nil
}

// startOnDynamoDB starts the three programs. Their environment is for starting one of them again.
func (l *lab) startOnDynamoDB(ctx context.Context) (_ *runningSystem, _ *testTables, env []string, err error) {
	tables, _, env, err := newStores(ctx, l)
	if err != nil {
		return nil, nil, nil, err
	}
	addresses, err := freeAddresses(ctx, 3)
	if err != nil {
		return nil, nil, nil, err
	}
	system := &runningSystem{writeAddress: addresses[0], readAddress: addresses[1]}
	env = append(env, "WRITE_API_ADDR="+addresses[0], "READ_API_ADDR="+addresses[1], "UPDATER_ADDR="+addresses[2])
	for _, program := range []string{"write-api", "read-model-updater", "read-api"} {
		if err := system.launch(l, program, env); err != nil {
			system.stop()
			return nil, nil, nil, err
		}
	}
	return system, tables, env, system.waitUntilReady(ctx) // which stops them if it fails
}

// newStores creates tables and a database with the schema for the three programs, whose environment names them.
func newStores(ctx context.Context, l *lab) (tables *testTables, config *mysql.Config, env []string, err error) {
	if tables, err = newTables(ctx, true); err != nil {
		return nil, nil, nil, err
	}
	if config, err = newDatabase(ctx); err != nil {
		return nil, nil, nil, err
	}
	url := config.FormatDSN()
	migrate := exec.CommandContext(ctx, filepath.Join(l.binaries, "migrate"), "up")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+url)
	if output, err := migrate.CombinedOutput(); err != nil {
		return nil, nil, nil, fmt.Errorf("make the tables of the read model: %w\n%s", err, output)
	}
	env = []string{"EVENT_STORE=dynamodb", "JOURNAL_TABLE=" + tables.journal, "SNAPSHOT_TABLE=" + tables.snapshot, "DATABASE_URL=" + url}
	return tables, config, env, nil
}

// readStream reads the whole stream of the journal, shard by shard, and returns the number of its records.
func (t *testTables) readStream(ctx context.Context) (records int, took time.Duration, err error) {
	config, err := dynamo.Load(ctx)
	if err != nil {
		return 0, 0, err
	}
	client := dynamodbstreams.NewFromConfig(config)
	table, err := t.client.DescribeTable(ctx, &sdk.DescribeTableInput{TableName: &t.journal})
	if err != nil {
		return 0, 0, err
	}
	stream, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: table.Table.LatestStreamArn})
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	for _, shard := range stream.StreamDescription.Shards {
		from, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: table.Table.LatestStreamArn, ShardId: shard.ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			return records, 0, err
		}
		for next := from.ShardIterator; next != nil; {
			page, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next, Limit: aws.Int32(1000)})
			if err != nil {
				return records, 0, err
			}
			if records += len(page.Records); len(page.Records) == 0 {
				break // the end of what was written so far
			}
			next = page.NextShardIterator
		}
	}
	return records, time.Since(begun), nil
}

// end stops one of the programs.
func (s *runningSystem) end(program int) error {
	process := s.processes[program]
	s.processes = slices.Delete(s.processes, program, program+1)
	_ = process.Process.Signal(os.Interrupt)
	return process.Wait()
}
