package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v3"
)

// print prints a result: as JSON or as text.
func (o *operator) print(cmd *cli.Command, value any, text string) error {
	if cmd.Bool(jsonFlag.Name) {
		encoded, err := indent("", value)
		if err != nil {
			return err
		}
		text = string(encoded) + "\n"
	}
	_, err := fmt.Fprint(o.stdout, text)
	return err
}

// indent returns a value as indented JSON; all lines but the first begin with prefix.
func indent(prefix string, value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}

// report prints what a command finds, one by one: as text, or as the elements of a JSON list.
type report struct {
	out      io.Writer
	progress *progressLine
	list     *list // nil: as text
}

func (o *operator) report(cmd *cli.Command, name string) *report {
	r := &report{out: o.stdout, progress: o.progress()}
	if cmd.Bool(jsonFlag.Name) {
		r.list = beginList(o.stdout, name)
	}
	return r
}

// add prints an element, or the text about it.
func (r *report) add(element any, text string) error {
	r.progress.clear()
	if r.list != nil {
		return r.list.add(element)
	}
	_, err := fmt.Fprint(r.out, text)
	return err
}

// end prints the totals: as members after the list, or as text. It returns errFound if not all is well.
func (r *report) end(isWell bool, text string, members ...any) error {
	var err error
	if r.list != nil {
		err = r.list.end(members...)
	} else {
		_, err = fmt.Fprint(r.out, text)
	}
	if err == nil && !isWell {
		return errFound
	}
	return err
}

// list prints a JSON object with one array, element by element, so that only one element is in memory.
type list struct {
	out    io.Writer
	begun  bool
	failed error
}

// beginList prints the beginning: other members, as names and values, and the array's name.
func beginList(out io.Writer, name string, members ...any) *list {
	l := &list{out: out}
	l.print("{")
	for i := 0; i+1 < len(members); i += 2 {
		l.member(members[i], members[i+1])
		l.print(",")
	}
	l.print("\n  %q: [", name)
	return l
}

func (l *list) member(name, value any) {
	text, err := indent("  ", value)
	if err != nil && l.failed == nil {
		l.failed = err
	}
	l.print("\n  %q: %s", name, text)
}

func (l *list) print(format string, args ...any) {
	if l.failed == nil {
		_, l.failed = fmt.Fprintf(l.out, format, args...)
	}
}

// add prints an element.
func (l *list) add(element any) error {
	text, err := indent("    ", element)
	if err != nil {
		return err
	}
	comma := ","
	if !l.begun {
		comma = ""
	}
	l.begun = true
	l.print("%s\n    %s", comma, text)
	return l.failed
}

// end prints the members after the array: names and values.
func (l *list) end(members ...any) error {
	if l.begun {
		l.print("\n  ")
	}
	l.print("]")
	for i := 0; i+1 < len(members); i += 2 {
		l.print(",")
		l.member(members[i], members[i+1])
	}
	l.print("\n}\n")
	return l.failed
}

// progressLine shows the progress on a terminal, in one line that it overwrites.
type progressLine struct {
	out  io.Writer // nil: no terminal
	next time.Time
}

const progressEvery = 200 * time.Millisecond

func (o *operator) progress() *progressLine {
	if file, isFile := o.stderr.(*os.File); isFile {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progressLine{out: file}
		}
	}
	return &progressLine{}
}

// tell shows the line, but not too often.
func (p *progressLine) tell(format string, args ...any) {
	if now := time.Now(); p.out != nil && now.After(p.next) {
		p.next = now.Add(progressEvery)
		fmt.Fprintf(p.out, "\r\x1b[K"+format, args...)
	}
}

// clear removes the line.
func (p *progressLine) clear() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
