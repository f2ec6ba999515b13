package kafka

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"example.com/threads/extras/publishing/brokertest"
)

func TestKafka(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	cluster, err := kfake.NewCluster(kfake.SeedTopics(3, brokertest.Topic), kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	publish := brokertest.Open(t, Kind, "kafka://"+strings.Join(cluster.ListenAddrs(), ","))
	brokertest.Publishes(t, publish, func() (arrived []brokertest.Got) {
		client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics(brokertest.Topic))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for len(arrived) < 5 && ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				arrived = append(arrived, brokertest.Got{Key: string(r.Key), ContentType: string(r.Headers[0].Value), Body: r.Value})
			})
		}
		// They come from several partitions, so sort them.
		slices.SortFunc(arrived, func(a, b brokertest.Got) int { return cmp.Compare(seqNrOf(t, a.Body), seqNrOf(t, b.Body)) })
		return arrived
	})
	brokertest.Refuses(t, publish, brokertest.Event(1, 2<<20))
	cluster.Close()
	_ = brokertest.Fails(t, publish)
}

func seqNrOf(t *testing.T, body []byte) int {
	t.Helper()
	var event struct {
		SeqNr int `json:"seqnr"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Error(err)
	}
	return event.SeqNr
}
