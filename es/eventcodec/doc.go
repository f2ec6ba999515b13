// Package eventcodec encodes and decodes events as JSON: the envelope, which is the same for all events, and the fields
// of each event type, which a [Codec]'s table defines. An application has one codec per aggregate type, such as
// threadcodec. The repository encodes with it; the repository, the projection's journal and the streams decode with it.
//
// Every event that was ever written stays readable. An event's name stands for one version of its JSON. When an event
// needs a new form, the new form gets a new name; the old name gets its own row, which decodes it as the current event
// ([Former]); and its golden file stays. Fields may be added to a version if their absence keeps its meaning. Unknown
// fields are ignored.
package eventcodec
