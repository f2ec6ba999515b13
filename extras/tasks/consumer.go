package tasks

import (
	"context"
	"slices"

	"example.com/threads/es/projection"
	esrun "example.com/threads/es/run"
	"example.com/threads/extras/tasks/task"
)

// Consume returns the consumer that executes tasks while its process has the turn, and looks for tasks when some have
// changed. finish completes the commands in progress.
func Consume(turn *esrun.Turn, ports Ports, finish func(context.Context)) esrun.Consumer {
	c := consumer{NewWorker(ports), finish}
	turn.OnChange(func(changed []projection.Head) {
		if slices.ContainsFunc(changed, func(head projection.Head) bool { return head.Key.Type == task.AggregateType }) {
			c.Wake()
		}
	})
	return c
}

type consumer struct {
	*Worker
	finish func(context.Context)
}

// Run executes tasks until ctx ends, then finishes the current commands.
func (c consumer) Run(ctx context.Context) {
	c.Worker.Run(ctx)
	c.finish(ctx)
}

// Check implements [esrun.Consumer]: the rows of tasks tell how they are.
func (consumer) Check(context.Context) (found esrun.Status, err error) { return found, nil }
