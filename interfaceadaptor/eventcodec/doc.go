// Package eventcodec is the one place that knows the JSON of events and snapshots. repository writes with it; the
// repository, the projection's journal and the streams read with it.
//
// What was ever written stays readable. A type's name stands for one version of its JSON: when an event needs another
// form, the new form gets a new name, the old name stays in [Decode] as an upcast into today's domain type, and its
// golden file stays in testdata. Fields may be added to a version as long as their absence keeps its meaning; unknown
// fields are ignored.
package eventcodec
