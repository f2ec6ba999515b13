// Package lab injects faults into the running system so that people can see how it keeps its promises. It stands
// between the projection and its source ([Lab.Projector], [Lab.Journal]), kills the projection ([Lab.Turn]), delays the
// event store ([Lab.Gateway]) and writes through a second writer. Tests inject the same faults with es/estest/faulty.
//
// Only a standalone that is built with the tag lab (make run does so) contains this package. Only LAB=on activates it.
package lab
