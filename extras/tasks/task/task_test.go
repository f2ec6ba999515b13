package task_test

import (
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

var (
	tasks = kit.Decider[task.Task, task.Order, task.Event]{Decide: task.Decide, Apply: task.Task.Apply}

	ada, bob = user("01ARZ3NDEKTSV4RRFFQ69G5FAV"), user("01BX5ZZKBKACTAV9WEVGEMMVRZ")
	request  = task.Request{Creator: ada, Kind: task.Import, Parts: 3, Total: 30}
	created  = task.Created{Request: request}
	third    = task.Progress{Parts: 1, Done: 10, Total: 30, Rejected: 2}
	all      = task.Progress{Parts: 3, Done: 30, Total: 30, Rejected: 2}
	most     = task.Progressed{Progress: task.Progress{Parts: 2, Done: 20, Total: 30, Rejected: 2}}
	done     = task.Finished{Status: task.Succeeded, Progress: all}
)

func user(text string) ident.UserID {
	id, err := ident.Parse[ident.UserAccount](text)
	if err != nil {
		panic(err)
	}
	return id
}

func TestRules(t *testing.T) {
	rule := func(name string) kit.Rule[task.Task, task.Order, task.Event] { return tasks.Rule(t, name) }

	rule("anyone creates a task").When(task.Create{Request: request}).Then(created)
	rule("a task is created once").Given(created).When(task.Create{Request: request}).Rejected(task.ErrTaskOvertaken)

	rule("a worker begins").Given(created).When(task.Start{}).Then(task.Started{})
	rule("only one worker begins").Given(created, task.Started{}).When(task.Start{}).Rejected(task.ErrTaskOvertaken)
	rule("a worker makes progress").Given(created, task.Started{}).When(task.Report{Progress: third}).Then(task.Progressed{Progress: third})
	rule("the progress never goes back").Given(created, most).When(task.Report{Progress: third}).Rejected(task.ErrTaskOvertaken)
	rule("the same progress is rejected").Given(created, most).When(task.Report(most)).Rejected(task.ErrTaskOvertaken)

	rule("a worker finishes").Given(created, most).When(task.Finish(done)).Then(done)
	rule("a worker with an old state does not finish").Given(created, most).When(task.Finish{Status: task.Succeeded, Progress: third}).Rejected(task.ErrTaskOvertaken)
	rule("a worker fails").Given(created, most).When(task.Finish{Status: task.Failed, Progress: most.Progress, Message: "why"}).
		Then(task.Finished{Status: task.Failed, Progress: most.Progress, Message: "why"})
	rule("a worker with an old state does not fail the task").Given(created, most).When(task.Finish{Status: task.Failed, Progress: third}).Rejected(task.ErrTaskOvertaken)
	rule("a finished task does not change").Given(created, done).When(task.Finish{Status: task.Failed, Progress: all}).Rejected(task.ErrTaskFinished)

	rule("the creator cancels").Given(created, most).When(task.Cancel{Executor: ada}).Then(task.Finished{Status: task.Cancelled, Progress: most.Progress})
	rule("an operator cancels").Given(created, most).When(task.Cancel{Executor: bob, Operator: true}).Then(task.Finished{Status: task.Cancelled, Progress: most.Progress})
	rule("an operator cancels no task that is finished").Given(created, done).When(task.Cancel{Executor: bob, Operator: true}).Rejected(task.ErrTaskFinished)
	rule("an operator cancels no task that does not exist").When(task.Cancel{Executor: bob, Operator: true}).Rejected(task.ErrTaskNotFound)
	rule("only the creator cancels").Given(created).When(task.Cancel{Executor: bob}).Rejected(task.ErrTaskNotFound)
	rule("other accounts do not learn that the task is finished").Given(created, done).When(task.Cancel{Executor: bob}).Rejected(task.ErrTaskNotFound)
	rule("a finished task is not cancelled").Given(created, done).When(task.Cancel{Executor: ada}).Rejected(task.ErrTaskFinished)
	rule("a cancelled task makes no progress").Given(created, task.Finished{Status: task.Cancelled}).When(task.Report{Progress: third}).Rejected(task.ErrTaskFinished)
	rule("a task that does not exist is not begun").When(task.Start{}).Rejected(task.ErrTaskNotFound)
}

// Every command must be decided in every state, and every event and rejection must occur. A new one that the tests lack
// is named here.
func TestNothingIsForgotten(t *testing.T) {
	orders := []task.Order{
		task.Create{Request: request}, task.Start{}, task.Report{Progress: third}, task.Finish(done), task.Cancel{Executor: ada},
	}
	states := []task.Task{{}, tasks.After(created), tasks.After(created, most), tasks.After(created, done)}
	seen := kit.Try(task.Decide, states, orders)
	const pkg = "example.com/threads/extras/tasks/task"
	declared := sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict")
	sealed.Check(t, "commands of this test", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow in this test", sealed.Types(t, pkg, "isEvent"), seen.Events)
	sealed.Check(t, "rejections of this test", declared, seen.Codes)
	for _, order := range orders {
		if got := task.OrderName(order); got != "task."+sealed.Name(order) {
			t.Errorf("%T is called %q: its repeats would not be recognised", order, got)
		}
	}
}
