package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"
)

// figures returns what alarms need, by the names of a read-model-updater's metrics.
func (h *handler) figures(ctx context.Context) (map[string]int, error) {
	parked := make([]int, len(h.stores))
	for i, store := range h.stores {
		var err error
		if parked[i], err = store.CountParked(ctx); err != nil {
			return nil, err
		}
	}
	if h.publish != nil { // extra:publishing {
		return map[string]int{"publisher_parked_aggregates": parked[0]}, nil
	} // extra:publishing }
	found := map[string]int{
		"projection_parked_aggregates": parked[0], "projection_rows_outdated": h.outdated, "projection_rebuild_interrupted": 0,
		"projection_aggregates_ahead":  h.projectors[0].Drift().Ahead, // by the repairs of this invocation
		"projection_unregistered_type": len(h.projectors[0].Unregistered()),
	}
	rebuild, err := h.stores[0].RebuildState(ctx)
	if rebuild.Interrupted {
		found["projection_rebuild_interrupted"] = 1
	}
	for i, outbox := range h.outboxes {
		_, failing, failed := outbox.Count(ctx)
		found["process_commands_failing"] += failing
		found["process_parked_aggregates"] += parked[i+1]
		err = errors.Join(err, failed)
	}
	return found, err
}

// tell writes the figures as a line of CloudWatch's embedded metric format, of which Lambda makes metrics.
func (h *handler) tell(ctx context.Context) error {
	figures, err := h.figures(ctx)
	if err != nil {
		return err
	}
	line, metrics := map[string]any{"FunctionName": os.Getenv("AWS_LAMBDA_FUNCTION_NAME")}, []map[string]string{}
	for name, value := range figures {
		line[name], metrics = value, append(metrics, map[string]string{"Name": name})
	}
	format := map[string]any{"Namespace": "lambda-updater", "Dimensions": [][]string{{"FunctionName"}}, "Metrics": metrics}
	line["_aws"] = map[string]any{"Timestamp": time.Now().UnixMilli(), "CloudWatchMetrics": []any{format}}
	return json.NewEncoder(h.figuresTo).Encode(line)
}
