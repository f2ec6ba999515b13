package dynamodbstreams_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
)

func TestEveryRecordIsHandedOverOrCounted(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		records := recordsOf(1, 8, time.Now())
		image := func(i int) map[string]types.AttributeValue { return records[i].Dynamodb.NewImage }
		text := image(0)["payload"].(*types.AttributeValueMemberS).Value
		image(0)["payload"] = &types.AttributeValueMemberB{Value: []byte(text)}
		image(1)["payload"] = &types.AttributeValueMemberS{Value: "{"}
		// The number 0 is no event.
		image(2)["skey"] = &types.AttributeValueMemberS{Value: image(2)["skey"].(*types.AttributeValueMemberS).Value[:len("order-")+26] + "-0"}
		image(6)["pkey"] = &types.AttributeValueMemberS{Value: "order-8"}
		image(7)["skey"] = &types.AttributeValueMemberS{Value: "order-8"} // without the id
		records[3].EventName = types.OperationTypeModify
		records[4].EventName, records[4].Dynamodb.NewImage = types.OperationTypeRemove, nil

		streams, store := &aws24h{arn: arn}, newMemory()
		streams.add(&fakeShard{id: shardID(0), from: time.Now(), records: records})
		source, stop := start(t.Context(), streams, store, dynamodbstreams.Settings{PageLimit: 2})
		eventually(t, func() error { return notBehind(t.Context(), source) })
		stop()

		counters := source.Totals()
		for name, check := range map[string]struct{ got, want int64 }{
			"handed over": {counters.Records, 3},
			"skipped":     {counters.Skipped, 3},
			"ignored":     {counters.Ignored, 2},
		} {
			if check.got != check.want {
				t.Errorf("%s: %d, want %d", name, check.got, check.want)
			}
		}
		if len(store.handed) != 3 || string(store.handed[0].Payload) != text || string(store.handed[1].Payload) != "{" || store.handed[2].SeqNr != 6 {
			t.Errorf("handed over: %+v", store.handed)
		}
	})
}
