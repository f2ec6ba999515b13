package es

import (
	"encoding/json"
	"fmt"
)

// The answer in a receipt is a JSON object: the aggregate's id in the field <type>_id, the version, and Result.About.
const answerVersion = "version"

func answerID(aggregateType string) string { return aggregateType + "_id" }

// answer returns the result in the form of a receipt.
func (r Result) answer() ([]byte, error) {
	answer := map[string]any{answerID(r.Key.Type): r.Key.ID, answerVersion: r.Version}
	for name, value := range r.About {
		answer[name] = value
	}
	return json.Marshal(answer)
}

// result returns the result that the receipt holds, of a command on an aggregate of the type.
func (r Receipt) result(tenant Tenant, aggregateType string) (Result, error) {
	var version struct {
		Version uint64 `json:"version"`
	}
	var rest map[string]any
	err := json.Unmarshal(r.Answer, &version)
	if err == nil {
		err = json.Unmarshal(r.Answer, &rest)
	}
	about := map[string]string{}
	for name, value := range rest {
		if text, isText := value.(string); isText {
			about[name] = text
		}
	}
	id := about[answerID(aggregateType)]
	delete(about, answerID(aggregateType))
	if err != nil || id == "" || version.Version == 0 {
		return Result{}, fmt.Errorf("the receipt of command %s can't be read: %q: %v", r.CommandID, r.Answer, err) //nolint:errorlint // not an error of the current caller
	}
	return Result{Key: AggregateID{Tenant: tenant, Type: aggregateType, ID: id}, Version: version.Version, About: about}, nil
}
