package words_test

import (
	"testing"

	"example.com/threads/tools/dev/internal/words"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"order": "an order, orders, Order, Orders", "box": "a box, boxes, Box, Boxes", "city": "a city, cities, City, Cities", "day": "a day, days, Day, Days",
	} {
		if got := words.Of(name).Replace("a gadget, gadgets, Gadget, Gadgets"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
