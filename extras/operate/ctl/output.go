package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goccy/go-yaml"
)

// print prints a result: as YAML, or with --json as JSON. It returns errFound unless all is well.
func (c *call) print(isWell bool, value any) error {
	err := c.write(value)
	if err == nil && !isWell {
		err = errFound
	}
	return err
}

func (c *call) write(value any) error {
	c.line.clear()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	written, err := text.Bytes(), error(nil)
	if !c.JSON {
		written, err = yaml.JSONToYAML(written)
	}
	if err == nil {
		_, err = c.stdout.Write(written)
	}
	return err
}

// add prints an element of a list with this name. With --json it keeps the element for [call.end].
func (c *call) add(list string, element any) error {
	c.found = append(c.found, element)
	if c.JSON {
		return nil
	}
	if len(c.found) == 1 {
		c.line.clear()
		fmt.Fprintln(c.stdout, list+":")
	}
	return c.write([]any{element})
}

// end prints the totals, after the list with this name.
func (c *call) end(isWell bool, list string, totals map[string]any) error {
	if c.JSON {
		totals[list] = append([]any{}, c.found...)
	}
	return c.print(isWell, totals)
}

// progressLine shows the progress on a terminal, in one line that it overwrites.
type progressLine struct {
	out  io.Writer // nil: no terminal
	next time.Time
}

const progressEvery = 200 * time.Millisecond

func progressOn(stderr io.Writer) *progressLine {
	if file, isFile := stderr.(*os.File); isFile {
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
