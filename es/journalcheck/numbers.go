package journalcheck

import (
	"maps"
	"math/bits"
	"slices"
)

// numbers is a set of event numbers, as bits in blocks of 64: a million events take about half a megabyte.
type numbers map[uint64]uint64

func (n numbers) add(number uint64) { n[number/64] |= 1 << (number % 64) }

// span is the numbers from first to last.
type span struct{ first, last uint64 }

// spans returns the numbers in order, in as few spans as possible.
func (n numbers) spans() []span {
	var found []span
	for _, block := range slices.Sorted(maps.Keys(n)) {
		for rest := n[block]; rest != 0; rest &= rest - 1 {
			number := block*64 + uint64(bits.TrailingZeros64(rest))
			if last := len(found) - 1; last >= 0 && found[last].last+1 == number {
				found[last].last = number
				continue
			}
			found = append(found, span{number, number})
		}
	}
	return found
}

// gaps returns the numbers from 1 to the last that are not in the spans.
func gaps(spans []span) []span {
	var missing []span
	next := uint64(1)
	for _, present := range spans {
		if present.first > next {
			missing = append(missing, span{next, present.first - 1})
		}
		next = present.last + 1
	}
	return missing
}
