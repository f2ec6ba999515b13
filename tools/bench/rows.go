package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// reading is a figure of one run, or turn, with the yardstick's figure of the same one.
type reading struct {
	Name      string
	Unit      string
	Value     float64
	Yardstick float64
	Beside    string // what the yardstick is
	Without   string // what users of the programs have and the figure leaves out
}

// What figures leave out that are measured from outside, with the programs' default settings on this machine.
const (
	outside   = "network, TLS, tokens, traces"
	local     = "AWS, " + outside // on DynamoDB Local
	meanwhile = ", commands meanwhile"
)

// row is the median of a figure's runs. The ratio is the median of the runs' ratios, because a disturbance affects a
// run's figure and its yardstick.
type row struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Yardstick float64 `json:"yardstick"`
	Ratio     float64 `json:"ratio"`
	Runs      int     `json:"runs"`
	Without   string  `json:"without,omitempty"`

	// Of a comparison with a former build; 0: it was not measured. The change is the median of the ratios of each run's
	// ratio to the former build's in the same turn, and the range in which it most probably is.
	Base       float64 `json:"base,omitempty"` // the ratio of the former build
	Change     float64 `json:"change,omitempty"`
	ChangeFrom float64 `json:"change_from,omitempty"`
	ChangeTo   float64 `json:"change_to,omitempty"`

	beside string
}

// former begins the names of the readings of the former build.
const former = "former "

// rowsOf combines the readings of all runs in the order of the first run.
func rowsOf(readings []reading) []row {
	var rows []row
	values, yardsticks, ratios := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, r := range readings {
		if values[r.Name] == nil && !strings.HasPrefix(r.Name, former) {
			rows = append(rows, row{Name: r.Name, Unit: r.Unit, Without: r.Without, beside: r.Beside})
		}
		values[r.Name], yardsticks[r.Name] = append(values[r.Name], r.Value), append(yardsticks[r.Name], r.Yardstick)
		ratios[r.Name] = append(ratios[r.Name], r.Value/r.Yardstick)
	}
	for i := range rows {
		r := &rows[i]
		if before := ratios[former+r.Name]; len(before) > 0 {
			var changes []float64
			for n := range min(len(before), len(ratios[r.Name])) {
				changes = append(changes, ratios[r.Name][n]/before[n])
			}
			r.ChangeFrom, r.ChangeTo = likely(changes)
			r.Base, r.Change = median(before), median(changes)
		}
		r.Value, r.Yardstick, r.Ratio, r.Runs = median(values[r.Name]), median(yardsticks[r.Name]), median(ratios[r.Name]), len(values[r.Name])
	}
	return rows
}

// likely returns a range of values that has the median of more such values with a probability of 95 %, by its ranks. Of
// fewer than six values it is the whole range. It sorts them.
func likely(values []float64) (low, high float64) {
	slices.Sort(values)
	n := len(values)
	below := max(0, int((float64(n)+1)/2-0.98*math.Sqrt(float64(n)))-1)
	return values[below], values[n-1-below]
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
	return millis(durations[max(0, int(math.Ceil(share*float64(len(durations))))-1)])
}

// printRows prints rows as a table with their yardsticks.
func printRows(out io.Writer, rows []row) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tVALUE\tUNIT\tYARDSTICK\tRATIO\tBASE\tRATIO/BASE\tRUNS\tLEAVES OUT\tTHE YARDSTICK IS")
	for _, r := range rows {
		base := "-\t-"
		if r.Base != 0 {
			base = fmt.Sprintf("%.2f\t%s", r.Base, short(r.Change))
			if r.Runs > 1 {
				base += fmt.Sprintf(" (%s-%s)", short(r.ChangeFrom), short(r.ChangeTo))
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.2f\t%s\t%d\t%s\t%s\n", r.Name, short(r.Value), r.Unit, short(r.Yardstick), r.Ratio, base, r.Runs,
			cmp.Or(r.Without, "-"), r.beside)
	}
	_ = table.Flush()
}

// short formats with three digits or more.
func short(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	case value >= 1:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.3f", value)
}
