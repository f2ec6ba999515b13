package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
)

// popularity is how unequal threads are: the n-th busiest has 1/n^exponent of the busiest one's commands.
type popularity struct {
	name     string
	exponent float64
}

var popularities = []popularity{{"alike", 0}, {"Zipf 0.8", 0.8}, {"Zipf 1", 1}, {"Zipf 1.2", 1.2}}

// journal is a simulated journal: threads in the order of their items, which is that of partition keys (the logical
// shards) and, within a key, of threads.
type journal []busy

// busy is a thread's part of all commands.
type busy struct {
	key   int
	share float64
}

// newJournal deals threads to shards, as the hash of their ids does.
func newJournal(threads, shards int, exponent float64, random *rand.Rand) journal {
	j, sum := make(journal, threads), 0.0
	for i := range j {
		share := 1 / math.Pow(float64(i+1), exponent)
		j[i], sum = busy{random.IntN(shards), share}, sum+share
	}
	for i := range j {
		j[i].share /= sum
	}
	random.Shuffle(threads, func(a, b int) { j[a], j[b] = j[b], j[a] })
	slices.SortStableFunc(j, func(a, b busy) int { return cmp.Compare(a.key, b.key) })
	return j
}

func (j journal) share() (sum float64) {
	for _, thread := range j {
		sum += thread.share
	}
	return sum
}

// hottestKey returns the part of all commands that the busiest logical shard has.
func (j journal) hottestKey() (hottest float64) {
	byKey := map[int]float64{}
	for _, thread := range j {
		byKey[thread.key] += thread.share
		hottest = max(hottest, byKey[thread.key])
	}
	return hottest
}

// split returns the parts of a partition's items, as equal as they can be. One thread can't be split: its next event is
// always its last item.
func (j journal) split() []journal {
	all, sum, best, at := j.share(), 0.0, 1.0, 0
	for i, thread := range j {
		if larger := max(sum, all-sum); larger < best {
			best, at = larger, i
		}
		sum += thread.share
	}
	if at == 0 {
		return []journal{j}
	}
	return []journal{j[:at], j[at:]}
}

const (
	newPartitions = 4  // of a new table on demand
	splitMinutes  = 10 // a partition that was too hot for so long is split; AWS documents no time
)

// throttled returns the part of the writes that is throttled in each period of splitMinutes from a new table on, at a
// rate of write units. A partition takes 1,000 of them wherever they fall (adaptive capacity); a hot one is split, also
// between threads of one key (split for heat).
func (j journal) throttled(units float64, periods int) (parts []float64) {
	var partitions []journal
	for i := range newPartitions {
		partitions = append(partitions, j[len(j)*i/newPartitions:len(j)*(i+1)/newPartitions])
	}
	for range periods {
		refused := 0.0
		var next []journal
		for _, partition := range partitions {
			asked := partition.share() * units
			if asked <= partitionUnits {
				next = append(next, partition)
				continue
			}
			refused += asked - partitionUnits
			next = append(next, partition.split()...)
		}
		parts, partitions = append(parts, refused/units), next
	}
	return parts
}

const (
	heatThreads = 100_000
	heatDraws   = 5
)

// median returns the median of each figure of many journals.
func median(shards int, p popularity, of func(journal) []float64) []float64 {
	var draws [][]float64
	for seed := range uint64(heatDraws) {
		draws = append(draws, of(newJournal(heatThreads, shards, p.exponent, rand.New(rand.NewPCG(seed, 0)))))
	}
	figures := make([]float64, len(draws[0]))
	for i := range figures {
		slices.SortFunc(draws, func(a, b []float64) int { return cmp.Compare(a[i], b[i]) })
		figures[i] = draws[heatDraws/2][i]
	}
	return figures
}

// printHeat writes from which rate on a logical shard or a thread is full, and what a new table throttles at a rate.
func printHeat(out io.Writer, l load, rate float64) error {
	m, err := measuredFor(l.text)
	if err != nil {
		return err
	}
	perSecond := partitionUnits / m.journalPerCommand() // of commands that one key or thread takes
	line := func(name string, figures func(popularity) string) {
		fmt.Fprintf(out, "%-24s", name)
		for _, p := range popularities {
			fmt.Fprintf(out, "%11s", figures(p))
		}
		fmt.Fprintln(out)
	}
	line("commands/s until full", func(p popularity) string { return p.name })
	for _, shards := range []int{16, 64, 256, 1024} {
		line(fmt.Sprintf("%d logical shards", shards), func(p popularity) string {
			return round(perSecond / median(shards, p, func(j journal) []float64 { return []float64{j.hottestKey()} })[0])
		})
	}
	line("the busiest thread", func(p popularity) string {
		return round(perSecond / median(1, p, func(j journal) []float64 {
			return []float64{slices.MaxFunc(j, func(a, b busy) int { return cmp.Compare(a.share, b.share) }).share}
		})[0])
	})
	periods := []int{0, 1, 2, 3}
	parts := map[popularity][]float64{}
	units := max(m.journalPerCommand(), m.snapshotPerCommand(l)) // of the table that is full first
	for _, p := range popularities {
		parts[p] = median(int(l.shards), p, func(j journal) []float64 { return j.throttled(rate*units, 1+slices.Max(periods)) })
	}
	line(fmt.Sprintf("\nthrottled at %s/s", round(rate)), func(p popularity) string { return p.name })
	for _, period := range periods {
		line(fmt.Sprintf("after %d minutes", period*splitMinutes), func(p popularity) string { return fmt.Sprintf("%.0f%%", 100*parts[p][period]) })
	}
	return nil
}
