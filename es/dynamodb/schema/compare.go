package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// compare lists the differences of an existing table. Both sides are converted to the text that operators read, and the
// texts are compared.
func (t Table) compare(got *types.TableDescription) []Difference {
	want := t.createInput()
	var differences []Difference
	check := func(what, want, got string) {
		if want != got {
			differences = append(differences, Difference{t.Name, what, want, got})
		}
	}
	check("key", keyText(want.KeySchema, want.AttributeDefinitions), keyText(got.KeySchema, got.AttributeDefinitions))
	check("billing", string(want.BillingMode), billing(got))
	check("stream", stream(want.StreamSpecification), stream(got.StreamSpecification))

	gotIndex := types.GlobalSecondaryIndexDescription{}
	for _, index := range got.GlobalSecondaryIndexes {
		if t.Index != "" && aws.ToString(index.IndexName) == t.Index {
			gotIndex = index
			continue
		}
		check("index "+aws.ToString(index.IndexName), "none", keyText(index.KeySchema, got.AttributeDefinitions))
	}
	if t.Index == "" {
		return differences
	}
	wantIndex := want.GlobalSecondaryIndexes[0]
	check("index "+t.Index, keyText(wantIndex.KeySchema, want.AttributeDefinitions), keyText(gotIndex.KeySchema, got.AttributeDefinitions))
	if gotIndex.IndexName != nil {
		check("projection of index "+t.Index, projectionText(wantIndex.Projection), projectionText(gotIndex.Projection))
	}
	return differences
}

func keyText(schema []types.KeySchemaElement, attributes []types.AttributeDefinition) string {
	if len(schema) == 0 {
		return "none"
	}
	var parts []string
	for _, element := range schema {
		for _, attribute := range attributes {
			if aws.ToString(attribute.AttributeName) == aws.ToString(element.AttributeName) {
				parts = append(parts, fmt.Sprintf("%s %s (%s)", *element.AttributeName, attribute.AttributeType, element.KeyType))
			}
		}
	}
	return strings.Join(parts, ", ")
}

func billing(table *types.TableDescription) string {
	if table.BillingModeSummary == nil { // DynamoDB's description of a table that was never on demand
		return string(types.BillingModeProvisioned)
	}
	return string(table.BillingModeSummary.BillingMode)
}

func stream(spec *types.StreamSpecification) string {
	if spec == nil || !aws.ToBool(spec.StreamEnabled) {
		return "none"
	}
	return string(spec.StreamViewType)
}

func projectionText(projection *types.Projection) string {
	if projection == nil {
		return "none"
	}
	names := slices.Clone(projection.NonKeyAttributes)
	slices.Sort(names)
	return strings.TrimSpace(string(projection.ProjectionType) + " " + strings.Join(names, " "))
}
