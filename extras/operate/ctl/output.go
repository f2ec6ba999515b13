package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/threads/es"
)

// one is the aggregate that a command is about.
type one struct {
	AID *string `arg:"" name:"AID" help:"the aggregate, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z"`
	aggregates
}

func (o *one) Validate() error { return o.read(o.AID) }

// some is the aggregate that a command is about, or all of them.
type some struct {
	AID *string `arg:"" optional:"" name:"AID" help:"the aggregate, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z; all without it"`
	aggregates
}

func (s *some) Validate() error { return s.read(s.AID) }

// aggregates are those that a call selects.
type aggregates struct {
	Tenant *string        `help:"code of the tenant; empty is the tenant without a code"`
	id     es.AggregateID // zero: no aggregate is named
}

func (a *aggregates) read(aid *string) (err error) {
	var tenant es.Tenant
	if a.Tenant != nil {
		if tenant, err = es.ParseTenant(*a.Tenant); err != nil {
			return err
		}
	}
	if aid == nil {
		return nil
	}
	a.id, err = es.ParseAggregateID(tenant, *aid)
	a.id.ID = strings.ToUpper(a.id.ID)
	return err
}

// have reports whether an aggregate is selected.
func (a *aggregates) have(id es.AggregateID) bool {
	if a.id != (es.AggregateID{}) {
		return id == a.id
	}
	return a.Tenant == nil || id.Tenant.String() == *a.Tenant
}

// commandLine returns a command about an aggregate, quoted, with more flags.
func commandLine(words string, id es.AggregateID, more ...string) string {
	line := words + " " + id.String()
	if id.Tenant != "" {
		line += " --tenant " + id.Tenant.String()
	}
	return "`" + strings.Join(append([]string{line}, more...), " ") + "`"
}

// control matches an escaped control character in JSON. YAML would send it to the terminal as it is.
var control = regexp.MustCompile(`\\(u00|[bfr])`)

// print prints a result: as YAML, or with --json as JSON. It returns errFound unless all is well.
func (c *call) print(isWell bool, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	shown := text.Bytes()
	if !c.JSON && !control.Match(shown) {
		if converted, err := yaml.JSONToYAML(shown); err == nil { // it fails for names that repeat
			shown = converted
		}
	}
	c.clear()
	_, err := c.stdout.Write(shown)
	if err == nil && !isWell {
		err = errFound
	}
	return err
}

// add prints an element of the list as soon as it is found, or keeps it for [call.end].
func (c *call) add(list string, element any) error {
	if c.JSON {
		c.found = append(c.found, element)
		return nil
	}
	if c.listed++; c.listed == 1 {
		c.clear()
		fmt.Fprintln(c.stdout, list+":")
	}
	return c.print(true, []any{element})
}

// end prints the list with the totals, or these alone after the list.
func (c *call) end(isWell bool, list string, totals map[string]any) error {
	if c.listed == 0 {
		totals[list] = append([]any{}, c.found...)
	}
	return c.print(isWell, totals)
}

// tell shows the progress on a terminal, in one line that it overwrites, but not too often.
func (c *call) tell(format string, args ...any) {
	if now := time.Now(); c.terminal != nil && now.After(c.next) {
		c.next = now.Add(200 * time.Millisecond)
		fmt.Fprintf(c.terminal, "\r\x1b[K"+format, args...)
	}
}

func (c *call) clear() {
	if c.terminal != nil {
		fmt.Fprint(c.terminal, "\r\x1b[K")
	}
}
