// Package tasks takes in long work and does it. [Intake] belongs to the program that clients ask: it stores the input
// and creates the task. [Worker] belongs to the program that does the work: it goes on where the last worker was
// killed. What they share is in the event store: the task itself (domain/task), and its input and result as [Files].
package tasks
