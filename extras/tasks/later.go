package tasks

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/interfaceadaptor/rest"
)

const (
	prefer            = "Prefer"
	preferenceApplied = "Preference-Applied"
	respondAsync      = "respond-async"
)

// prefersLater matches the header of a client that does not want to wait for the command.
var prefersLater = regexp.MustCompile(`(?i)(^|,)\s*` + respondAsync + `\s*([;,]|$)`)

// Accept makes tasks of the commands whose clients prefer that, and passes the others on.
func (i *Intake) Accept(next rest.Perform) rest.Perform {
	return func(ctx context.Context, header http.Header, r rest.Request) (rest.Reply, error) {
		if !r.Operation.IsOrdinary() || !prefersLater.MatchString(strings.Join(header.Values(prefer), ",")) {
			return next(ctx, header, r)
		}
		reply, err := accepted(i.Later(ctx, r.Conditions, Later{
			Path: r.Operation.Path, Body: r.Body, IdempotencyKey: r.IdempotencyKey, IfVersion: r.IfVersion,
		}, r.Name, r.Content))
		reply.Status, reply.Header[preferenceApplied] = http.StatusAccepted, respondAsync
		return reply, err
	}
}

// Describe adds to the OpenAPI document what [Intake.Accept] does with the commands of the aggregates.
func Describe(aggregates []rest.Aggregate) func(*huma.OpenAPI) {
	return func(doc *huma.OpenAPI) {
		for _, aggregate := range aggregates {
			for _, op := range aggregate.Operations {
				if !op.IsOrdinary() {
					continue
				}
				described := doc.Paths[op.Path].Post
				described.Parameters = append(described.Parameters, &huma.Param{
					Name: prefer, In: "header", Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{respondAsync}},
					Description: "With respond-async (RFC 7240) the command is checked and becomes a task: the answer is 202 with its task_id, and the task's result is the command's answer or its problem. Other preferences are ignored.",
				})
				headers := maps.Clone(described.Responses[strconv.Itoa(cmp.Or(op.Status, http.StatusOK))].Headers)
				headers[preferenceApplied] = &huma.Param{Description: "The preference that was followed.", Example: respondAsync, Schema: &huma.Schema{Type: huma.TypeString}}
				described.Responses[strconv.Itoa(http.StatusAccepted)] = &huma.Response{
					Description: "With Prefer: respond-async: it is a task now.", Headers: headers,
					Content: map[string]*huma.MediaType{rest.MediaJSON: {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[TaskReply](), true, "")}},
				}
				rest.DescribeProblem(doc, described, ErrNoRoom)
			}
		}
	}
}
