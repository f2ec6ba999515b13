package main

import (
	"cmp"
	"math"
	"slices"
)

// measured is what one post of a message takes: see TestScaleInputs.
type measured struct {
	TextBytes, ItemBytes, JournalUnits, IndexUnits, HeadUnits, UpkeepUnits, ReadUnits, Rows, LogBytes, WriteSeconds, QuerySeconds, Series float64
}

// load is what the system is asked to do, and how it is set up.
type load struct {
	rate        float64 // commands a second
	text        float64 // bytes of a message
	batch       float64 // commands that share a write
	shards      float64 // SHARD_COUNT
	first       float64 // SHARD_COUNT when the tables were made, which receipts keep; 0: the same
	keyed       float64 // part of the commands that have an idempotency key
	before      float64 // months that the tables have been filled for
	lambda      bool
	provisioned bool
}

// Limits of AWS as known in 2025, and the page of docs.aws.amazon.com that has each.
const (
	// amazondynamodb/latest/developerguide/bp-partition-key-design.html: write units a second of one partition key.
	partitionUnits = 1000
	// amazondynamodb/latest/developerguide/ServiceQuotas.html: write units a second of a table or index, unless raised.
	tableUnits = 40_000
	// lambda/latest/dg/gettingstarted-limits.html: concurrent invocations, unless raised.
	lambdaQuota = 1000
)

// Assumptions, which a load test has to replace.
const (
	rowsPerUnit      = 1500.0 // rows a second that one capacity unit of Aurora writes
	maxUnits         = 256.0  // of an Aurora writer
	updaterRows      = 20_000 // rows a second of one updater, whose 16 shards are batches at the same time
	batchOnLambda    = 0.25   // seconds of a batch of 1,000 records
	requestOnLambda  = 0.02   // seconds of a command or query, which waits for a database most of the time
	answersPerSecond = 1.0    // queries for each command
	utilization      = 0.6    // of what is provisioned, and of processors

	pollsOfAShard     = 30.0 // a second, by STREAM_POLL_MIN and STREAM_POLL_MAX while events arrive
	bytesOfAnExchange = 4000.0
	scrapesInAMinute  = 4.0
)

// receiptUnits are those of a receipt, which is under 1 KB, in a transaction. DynamoDB Local does not count it: of a
// transaction it counts one item of each table.
const receiptUnits = 2

const oneThread = "one thread, whose key is one partition"

// limit is a rate at which a part ends.
type limit struct {
	name string
	rate float64
}

// journalPerCommand and headPerCommand are write units.
func (m measured) journalPerCommand() float64    { return m.JournalUnits }
func (m measured) headPerCommand(l load) float64 { return m.HeadUnits / l.batch }
func (l load) receiptPerCommand() float64        { return receiptUnits * l.keyed }
func (m measured) snapshotPerCommand(l load) float64 {
	return m.headPerCommand(l) + l.receiptPerCommand() + m.UpkeepUnits
}
func (m measured) streamShards(units float64) float64 {
	return math.Ceil(units / partitionUnits)
}

// limits returns where the system ends, the lowest first. The events of a thread are in one logical shard, and under
// one key of the index.
func (m measured) limits(l load) []limit {
	perKey := max(m.journalPerCommand(), m.IndexUnits, m.headPerCommand(l))
	found := []limit{
		{oneThread, partitionUnits / perKey},
		{"all logical shards are full", partitionUnits * min(l.shards/max(m.journalPerCommand(), m.headPerCommand(l)), cmp.Or(l.first, l.shards)/l.receiptPerCommand())},
		{"the quota of a table", tableUnits / max(m.journalPerCommand(), m.IndexUnits, m.snapshotPerCommand(l))},
		{"Aurora's largest writer", rowsPerUnit * maxUnits / m.Rows},
	}
	if !l.lambda {
		found = append(found, limit{"one updater", updaterRows / m.Rows})
	} else {
		// No stream shard has more than the events of 1,000 write units a second, which is less than its ten concurrent
		// batches take (lambda/latest/dg/with-ddb.html): all batches together are limited.
		found = append(found, limit{"Lambda's concurrency", lambdaQuota * 1000 / batchOnLambda})
	}
	slices.SortFunc(found, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) })
	return found
}

const (
	hours = 730.0
	month = hours * 3600 // seconds
	giga  = 1e9
)

// Prices in US dollars in us-east-1 as known in 2025, and the page of aws.amazon.com that has them.
const (
	// dynamodb/pricing
	writeUnit     = 0.625 / 1e6
	readUnit      = 0.125 / 1e6
	writeUnitHour = 0.00065
	tableGBMonth  = 0.25
	backupGBMonth = 0.20 // point-in-time recovery
	streamRead    = 0.02 / 100_000
	// rds/aurora/pricing
	auroraUnitHour = 0.12
	auroraIO       = 0.20 / 1e6
	auroraGBMonth  = 0.10
	// rds/proxy/pricing: of each capacity unit behind it, eight at least
	proxyUnitHour = 0.015
	proxyUnits    = 8
	// fargate/pricing
	vcpuHour     = 0.03238 // on ARM
	memoryGBHour = 0.00356
	// lambda/pricing
	lambdaGBSecond = 0.0000133334
	lambdaCall     = 0.20 / 1e6
	// elasticloadbalancing/pricing
	balancerHour     = 0.0225
	balancerUnitHour = 0.008 // 1 GB an hour
	// vpc/pricing
	gatewayHour = 0.045
	// cloudwatch/pricing
	logGB = 0.50
	// prometheus/pricing
	metricSamples = 0.90 / 1e7
)

const (
	taskMonth = (vcpuHour + 2*memoryGBHour) * hours // a task of 1 vCPU and 2 GB
	lambdaGB  = 0.5                                 // of a function
)

// apiTasks returns how many tasks both APIs have on Fargate: two of each at least. A vCPU there is taken to be as fast
// as a processor of the machine that was measured.
func (m measured) apiTasks(l load) float64 {
	return max(4, l.rate*(m.WriteSeconds+answersPerSecond*m.QuerySeconds)/utilization)
}

// apisOnLambda returns what both APIs would cost a month as functions.
func (l load) apisOnLambda() float64 {
	return l.rate * (1 + answersPerSecond) * month * (lambdaCall + lambdaGB*requestOnLambda*lambdaGBSecond)
}

// cost is a line of the bill.
type cost struct {
	name    string
	dollars float64 // a month
}

// costs returns the bill of a month, the largest line first.
func (m measured) costs(l load) []cost {
	commands := l.rate * month
	units := m.journalPerCommand() + m.IndexUnits + m.snapshotPerCommand(l)
	writes := commands * units * writeUnit
	if l.provisioned {
		writes = l.rate * units / utilization * writeUnitHour * hours
	}
	shards := m.streamShards(l.rate * m.journalPerCommand())
	storedGB := commands * m.ItemBytes / giga * (l.before + 0.5) // on average in the month
	apis := m.apiTasks(l)
	updater := cost{"updater", 2*taskMonth + shards*pollsOfAShard*month*streamRead}
	tasks := apis + 2
	if l.lambda {
		batches := max(l.rate/1000, shards/60) // full ones, or one in a minute
		updater = cost{"updater", batches * month * (lambdaCall + lambdaGB*batchOnLambda*lambdaGBSecond)}
		tasks = apis
	}
	rows := l.rate * m.Rows
	auroraUnits := 2 * max(1, rows/rowsPerUnit) // a writer and a reader
	lines := []cost{
		{"DynamoDB writes", writes},
		{"DynamoDB storage", storedGB * (2*tableGBMonth + backupGBMonth)}, // table and index
		{"DynamoDB reads", commands * m.ReadUnits * readUnit},
		updater,
		{"Aurora", auroraUnits*auroraUnitHour*hours + rows*month*auroraIO + 2*storedGB*auroraGBMonth},
		{"RDS Proxy", max(proxyUnits, auroraUnits) * proxyUnitHour * hours},
		{"APIs", apis * taskMonth},
		{"network", (balancerHour+2*gatewayHour)*hours + l.rate*(1+answersPerSecond)*bytesOfAnExchange*3600/giga*balancerUnitHour*hours},
		{"logs", commands * (1 + answersPerSecond) * m.LogBytes / giga * logGB},
		{"metrics", tasks * m.Series * scrapesInAMinute * 60 * hours * metricSamples},
	}
	slices.SortFunc(lines, func(a, b cost) int { return cmp.Compare(b.dollars, a.dollars) })
	return lines
}
