package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// reading is a figure of one run with the yardstick's figure of the same run.
type reading struct {
	Name      string
	Unit      string
	Value     float64
	Yardstick float64
	Beside    string // what the yardstick is
}

// row is the median of a figure's runs. The ratio is the median of the runs' ratios, because a disturbance affects a
// run's figure and its yardstick.
type row struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Yardstick float64 `json:"yardstick"`
	Ratio     float64 `json:"ratio"`
	Base      float64 `json:"base,omitempty"` // the ratio of the former build; 0: it was not measured
	Runs      int     `json:"runs"`

	beside string
}

// former begins the names of the readings of the former build.
const former = "former "

// rowsOf combines the readings of all runs in the order of the first run.
func rowsOf(readings []reading) []row {
	var rows []row
	for _, first := range readings {
		if slices.ContainsFunc(rows, func(r row) bool { return r.Name == first.Name }) {
			continue
		}
		var values, yardsticks, ratios []float64
		for _, r := range readings {
			if r.Name == first.Name {
				values, yardsticks, ratios = append(values, r.Value), append(yardsticks, r.Yardstick), append(ratios, r.Value/r.Yardstick)
			}
		}
		if of, is := strings.CutPrefix(first.Name, former); is { // whose row is there
			rows[slices.IndexFunc(rows, func(r row) bool { return r.Name == of })].Base = median(ratios)
			continue
		}
		rows = append(rows, row{first.Name, median(values), first.Unit, median(yardsticks), median(ratios), 0, len(values), first.Beside})
	}
	return rows
}

func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

// millis returns a duration in milliseconds.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// percentile returns, in milliseconds, the smallest duration that at least this share of the durations does not exceed.
// It sorts them.
func percentile(durations []time.Duration, share float64) float64 {
	if len(durations) == 0 {
		return 0
	}
	slices.Sort(durations)
	return millis(durations[min(int(share*float64(len(durations))), len(durations)-1)])
}

// printRows prints rows as a table with their yardsticks.
func printRows(out io.Writer, rows []row) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tVALUE\tUNIT\tYARDSTICK\tRATIO\tBASE\tRATIO/BASE\tRUNS\tTHE YARDSTICK IS")
	for _, r := range rows {
		base := "-\t-"
		if r.Base != 0 {
			base = fmt.Sprintf("%.2f\t%.2f", r.Base, r.Ratio/r.Base)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.2f\t%s\t%d\t%s\n", r.Name, short(r.Value), r.Unit, short(r.Yardstick), r.Ratio, base, r.Runs, r.beside)
	}
	_ = table.Flush()
}

// short formats with three digits or more.
func short(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 1:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.3f", value)
}
