// Package lab breaks the running system on purpose, so that people see how it keeps its promises: it stands between the
// projection and its source ([Lab.Projector], [Lab.Journal]), ends its turns ([Lab.Turn]), makes the event store answer
// late ([Lab.Gateway]) and writes beside the write-api. What it does to records, tests do with the same code,
// usecase/projection/faults.
//
// Only a standalone that was built with the tag lab, as make run does, contains this package, and only with LAB=on it
// uses it.
package lab
