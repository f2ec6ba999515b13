package main

import "testing"

func TestJudge(t *testing.T) {
	first, second, third := textOf("kill", 0, 1), textOf("kill", 0, 2), textOf("kill", 1, 1)
	other := textOf("query", 0, 1)
	for name, test := range map[string]struct {
		acknowledged []string
		contents     []string // of rows or events
		want         verdict
	}{
		"all are there once":                  {[]string{first, second}, []string{first, second}, verdict{}},
		"an acknowledged text is missing":     {[]string{first, second}, []string{first}, verdict{missing: 1}},
		"nothing is there":                    {[]string{first, second}, nil, verdict{missing: 2}},
		"a row is there twice":                {[]string{first}, []string{first, first}, verdict{double: 1}},
		"one is missing and one is double":    {[]string{first, second}, []string{second, second}, verdict{missing: 1, double: 1}},
		"without an answer it may be there":   {[]string{first}, []string{first, third}, verdict{}},
		"without an answer twice is double":   {nil, []string{third, third, third}, verdict{double: 1}},
		"another phase's texts do not matter": {[]string{first}, []string{first, other, other}, verdict{}},
		"an event has its text in JSON":       {[]string{first}, []string{`{"message":{"text":"` + first + `"}}`}, verdict{}},
		"an event may repeat its text":        {[]string{first}, []string{first + first}, verdict{}},
	} {
		found := map[string]int{}
		for _, content := range test.contents {
			count(found, content)
		}
		if got := judge("kill", test.acknowledged, found); got != test.want {
			t.Errorf("%s: %+v, not %+v", name, got, test.want)
		}
	}
}

func TestTextsAreDistinct(t *testing.T) {
	if a, b := keyOf(textOf("kill", 1, 11)), keyOf(textOf("kill", 11, 1)); a == b || a != "text.kill.1.11." {
		t.Errorf("keys %q and %q", a, b)
	}
	if got := len(textOf("kill", 1, 11)); got != messageLength {
		t.Errorf("a text of %d characters", got)
	}
}
