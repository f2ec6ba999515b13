package graphql

import (
	"net/http"
	"strings"

	"github.com/munnerz/goautoneg"
)

// The media types of an answer.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json" // like mediaJSON, but the status shows whether it was executed
	mediaEvents   = "text/event-stream"
)

// negotiate returns the media type with the highest quality in Accept. Among equals, JSON comes before a stream.
// Wildcards mean [mediaJSON], as GraphQL over HTTP requires. It is also the result if Accept allows none.
func negotiate(header http.Header) string {
	best, quality := mediaJSON, 0.0
	clauses := goautoneg.ParseAccept(strings.Join(header.Values("Accept"), ","))
	for _, offer := range []struct {
		media   string
		clauses []string // that match this type, the most specific first
	}{
		{mediaResponse, []string{mediaResponse}},
		{mediaJSON, []string{mediaJSON, "application/*", "*/*"}},
		{mediaEvents, []string{mediaEvents}},
	} {
		if q := qualityOf(clauses, offer.clauses); q > quality {
			best, quality = offer.media, q
		}
	}
	return best
}

// qualityOf returns the quality of the first name that has a clause; 0: no name has one.
func qualityOf(clauses []goautoneg.Accept, names []string) float64 {
	for _, name := range names {
		for _, clause := range clauses {
			if strings.EqualFold(clause.Type+"/"+clause.SubType, name) {
				return clause.Q
			}
		}
	}
	return 0
}
