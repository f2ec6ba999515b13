package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// figures are what a run found.
type figures struct {
	Clients                  int     `json:"clients"`
	Threads                  int     `json:"threads"`
	Commands                 int     `json:"commands"`
	Failures                 int     `json:"failures"`
	CommandsPerSecond        float64 `json:"commands_per_second"`
	AnswerP50                millis  `json:"answer_p50_ms"`
	AnswerP99                millis  `json:"answer_p99_ms"`
	VisibleP50               millis  `json:"visible_p50_ms"`
	VisibleP99               millis  `json:"visible_p99_ms"`
	VisibleSamples           int     `json:"visible_samples"`
	CPUPerCommand            millis  `json:"cpu_per_command_ms"`
	AppendsPerSecond         float64 `json:"appends_per_second"`
	SmallestShare            float64 `json:"smallest_share_of_two_writers"` // of an even share: 1 is perfectly fair
	RawTransactionsPerSecond float64 `json:"raw_transactions_per_second"`
	SyncsPerSecond           float64 `json:"fsyncs_per_second"`
	TimesYardstick           float64 `json:"times_yardstick"`
	AppendsTimesYardstick    float64 `json:"appends_times_yardstick"`

	Queries []compared `json:"queries"`

	posted  int   // all commands that were acknowledged, the warm-up included
	failure error // one of the failures
}

// millis is a duration in milliseconds.
type millis float64

func millisOf(d time.Duration) millis { return millis(float64(d) / float64(time.Millisecond)) }

// percentile is the smallest of the durations that share of them do not exceed. It sorts them.
func percentile(durations []time.Duration, share float64) millis {
	if len(durations) == 0 {
		return 0
	}
	slices.Sort(durations)
	return millisOf(durations[min(int(share*float64(len(durations))), len(durations)-1)])
}

func (f figures) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what, format string, values ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t\n", what, fmt.Sprintf(format, values...))
	}
	row(fmt.Sprintf("%d clients posting to %d threads over HTTP", f.Clients, f.Threads), "%.0f commands/s", f.CommandsPerSecond)
	row("failures", "%d of %d", f.Failures, f.Commands)
	row("answer, p50", "%.1f ms", f.AnswerP50)
	row("answer, p99", "%.1f ms", f.AnswerP99)
	row("from the answer to the answer of GraphQL that shows it, p50", "%.1f ms", f.VisibleP50)
	row("the same, p99", "%.1f ms", f.VisibleP99)
	row("processor time of the program for a command, its projection included", "%.3f ms", f.CPUPerCommand)
	row(fmt.Sprintf("%d clients appending straight to the event store", f.Clients), "%.0f appends/s", f.AppendsPerSecond)
	row("two writers with 4 posters each on one thread: the poster with the fewest got", "%.2f of an even share", f.SmallestShare)
	row("yardstick: raw one-row SQLite transactions, as durable", "%.0f /s", f.RawTransactionsPerSecond)
	row("appends of 4 KiB with an fsync on this disk", "%.0f /s", f.SyncsPerSecond)
	row("commands per raw transaction", "%.1f", f.TimesYardstick)
	row("appends per raw transaction", "%.1f", f.AppendsTimesYardstick)
	for _, q := range f.Queries {
		row(q.Name, "%.0f %s, %.2f of a prepared sqlx loop", q.Value, q.Unit, q.Value/q.Yardstick)
	}
	_ = table.Flush()
}
