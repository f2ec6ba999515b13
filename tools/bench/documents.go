package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// documentSizes are the lengths of the measured documents in KiB. The smallest is executed, the others are refused.
var documentSizes = []int{1, 4, 15, 60}

// documents measures what a document costs by its size: one that repeats a field, which is the dearest per byte, beside
// one with a comment of the same length. Each is sent once only, because the program caches documents.
func documents(ctx context.Context, l *lab) ([]reading, error) {
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer system.stop()
	connection, err := connect(ctx, system.readAddress, "/graphql", "")
	if err != nil {
		return nil, err
	}
	defer connection.close()
	var found []reading
	for _, size := range documentSizes {
		figure := reading{Name: fmt.Sprintf("query.document.%dk", size), Unit: "ms", Beside: "a comment of the same length", Without: outside + meanwhile}
		repeated := `{ __type(name: "Query") { ` + strings.Repeat("name ", size<<10/len("name ")) + `} }`
		comment := `{ __typename } #` + strings.Repeat("x", size<<10)
		if figure.Value, err = connection.median(ctx, repeated, l.duration/8); err != nil {
			return nil, err
		}
		if figure.Yardstick, err = connection.median(ctx, comment, l.duration/8); err != nil {
			return nil, err
		}
		found = append(found, figure)
	}
	return found, nil
}

// median returns the median time, in milliseconds, until a document is answered.
func (c *rawConnection) median(ctx context.Context, document string, duration time.Duration) (float64, error) {
	var took []time.Duration
	for begun := time.Now(); ctx.Err() == nil && time.Since(begun) < duration; {
		body, err := json.Marshal(map[string]string{"query": fmt.Sprintf("%s # %d", document, time.Now().UnixNano())})
		if err != nil {
			return 0, err
		}
		sent := time.Now()
		if _, err := c.post("", body); err != nil {
			return 0, err
		}
		took = append(took, time.Since(sent))
	}
	return percentile(took, 0.5), ctx.Err()
}
