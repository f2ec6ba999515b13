// Package eventcodec writes and reads the JSON of events: the envelope, which is the same for all, and around it what a
// [Codec]'s table says of each type of event. An application has a codec for each of its aggregates, such as threadcodec.
// The repository writes with it; the repository, the projection's journal and the streams read with it.
//
// What was ever written stays readable. An event's name stands for one version of its JSON: when an event needs another
// form, the new form gets a new name, the old name gets a row of its own that reads it as today's event ([Former]), and
// its golden file stays. Fields may be added to a version as long as their absence keeps its meaning; unknown fields are
// ignored.
package eventcodec
