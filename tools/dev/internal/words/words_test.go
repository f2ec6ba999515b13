package words_test

import (
	"testing"

	"example.com/threads/tools/dev/internal/words"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"order": "an order, orders, Order, Orders, AnOrder", "box": "a box, boxes, Box, Boxes, ABox", "city": "a city, cities, City, Cities, ACity",
		"day": "a day, days, Day, Days, ADay",
	} {
		if got := words.Of(name).Replace("a gadget, gadgets, Gadget, Gadgets, AGadget"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
