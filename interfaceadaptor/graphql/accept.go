package graphql

import (
	"net/http"
	"strings"

	"github.com/munnerz/goautoneg"
)

// The forms of an answer.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json" // as mediaJSON, but the status tells whether anything has run
	mediaEvents   = "text/event-stream"
)

// negotiate picks the form of the answer by the quality that Accept gives each. Among equals an answer in JSON comes
// before a stream. Wildcards mean [mediaJSON], as GraphQL over HTTP asks; a client that takes none of the forms gets
// it, too.
func negotiate(header http.Header) string {
	best, quality := mediaJSON, 0.0
	clauses := goautoneg.ParseAccept(strings.Join(header.Values("Accept"), ","))
	for _, offer := range []struct {
		media   string
		clauses []string // that speak of it, the most specific first
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

// qualityOf is the quality in the first of the clauses by these names that there is; 0 without any.
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
