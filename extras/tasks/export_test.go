package tasks

import (
	"context"
	"hash/maphash"
	"log/slog"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/query"
)

var AuthorOf = authorOf

var seed = maphash.MakeSeed()

// Handle handles a line of an import as a worker does, and returns the key of the command's aggregate, the answer or
// the problem, and whether it is a problem. The same line has the same idempotency key.
func Handle(
	ctx context.Context, commands []rest.Aggregate, creator ident.UserID, forOthers bool, line string,
) (aggregate string, answer []byte, rejected bool, err error) {
	r := &run{
		Worker:  NewWorker(Ports{Commands: commands, Timeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}),
		Details: Details{Row: Row{Audit: query.Audit{CreatedBy: creator}}, Request: task.Request{ForOthers: forOthers}},
		caller:  es.Caller{Executor: creator.String()},
	}
	request := r.line(line, maphash.String(seed, line))
	result, err := r.execute(ctx, request)
	_, rejected = result.(*rest.Problem)
	return request.Aggregate, encodeLines(result), rejected, err
}
