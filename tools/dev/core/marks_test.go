package main

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	const text = "core\nuse(lab) // extra:lab\n# extra:page {\npage\n# extra:page }\nboth // extra:lab,page\nif lab { // extra:lab {\n\tlab\n} // extra:lab }\nend"
	for kept, want := range map[string]string{
		"":         "core\nend",
		"lab":      "core\nuse(lab)\nif lab {\n\tlab\n}\nend",
		"page":     "core\npage\nend",
		"lab page": "core\nuse(lab)\npage\nboth\nif lab {\n\tlab\n}\nend",
	} {
		if got, any, err := cut(text, strings.Fields(kept)); got != want || !any || err != nil {
			t.Errorf("with %q: %q, %v, %v; want %q", kept, got, any, err, want)
		}
	}
}

func TestOneOfSeveralIsEnough(t *testing.T) {
	const text = "a\nb // extra:lab|page\nc"
	for kept, want := range map[string]string{"": "a\nc", "page": "a\nb\nc", "lab": "a\nb\nc"} {
		if got, _, err := cut(text, strings.Fields(kept)); got != want || err != nil {
			t.Errorf("with %q: %q, %v; want %q", kept, got, err, want)
		}
	}
}

func TestBlocksInBlocks(t *testing.T) {
	const text = "a\n// extra:lab|page {\nb\nif c { // extra:lab {\n\tc\n} // extra:lab }\nd // extra:page\n// extra:lab|page }\ne"
	for kept, want := range map[string]string{"": "a\ne", "page": "a\nb\nd\ne", "lab": "a\nb\nif c {\n\tc\n}\ne"} {
		if got, _, err := cut(text, strings.Fields(kept)); got != want || err != nil {
			t.Errorf("with %q: %q, %v; want %q", kept, got, err, want)
		}
	}
}

// What is left must read as if nothing had been there.
func TestCutJoinsWhatIsLeft(t *testing.T) {
	for text, want := range map[string]string{
		"\tf(\n\t\ta, b,\n\t\tx, // extra:lab\n\t)":              "\tf(a, b)",
		"\tf(\n\t\tx, // extra:lab\n\t\ta,\n\t\tb,\n\t) error {": "\tf(a, b) error {",
		"\tf(\n\t\ta,\n\t)": "\tf(\n\t\ta,\n\t)",
		"\tt{\n\t\tA: 1,\n\t\tB: 2,\n\t\tX: 3, // extra:lab\n\t}":               "\tt{\n\t\tA: 1,\n\t\tB: 2,\n\t}",
		"\ta := b()\n\tuse(a) // extra:lab\n\treturn a\n}":                      "\treturn b()\n}",
		"\ta := b{\n\t\tc(),\n\t\td(),\n\t}\n\tuse(a) // extra:lab\n\treturn a": "\treturn b{\n\t\tc(),\n\t\td(),\n\t}",
		"\ta := b()\n\treturn a":                                                "\ta := b()\n\treturn a",
		"\ta.b = 1\n\tuse(a) // extra:lab\n\treturn a":                          "\ta.b = 1\n\treturn a",
	} {
		if got, _, err := cut(text, nil); got != want || err != nil {
			t.Errorf("%q is left as %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestCutLeavesOneEmptyLine(t *testing.T) {
	const text = "one\n\n# extra:lab {\nlab\n# extra:lab }\n\ntwo\n\n\nthree\n\n# extra:lab {\nlab\n# extra:lab }\n"
	if got, _, err := cut(text, nil); got != "one\n\ntwo\n\n\nthree\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCutWholeFile(t *testing.T) {
	const text = "// extra:lab\npackage lab"
	if _, any, err := cut(text, nil); any || err != nil {
		t.Errorf("without the extra: %v, %v; want no file", any, err)
	}
	if got, _, err := cut(text, []string{"lab"}); got != "package lab" || err != nil {
		t.Errorf("with the extra: %q, %v", got, err)
	}
}

func TestCutBrokenBlocks(t *testing.T) {
	for _, text := range []string{"// extra:lab {\n", "// extra:lab }\n", "// extra:lab {\n// extra:page }\n", "// extra:lab {\n// extra:lab {\n// extra:lab }\n"} {
		if _, _, err := cut(text, nil); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
