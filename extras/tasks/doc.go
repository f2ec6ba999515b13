// Package tasks creates and executes long work. [Store] belongs to the program that clients call: it stores the input
// and creates the task. [Worker] belongs to the program that executes tasks, and continues where a killed worker
// stopped. They share the event store: the task itself (extras/tasks/task), and its input and result in its [es.Spool].
package tasks
