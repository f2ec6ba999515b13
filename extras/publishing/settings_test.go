package publishing_test

import (
	"strings"
	"testing"

	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/kafka"
	"example.com/threads/extras/publishing/nats"
	"example.com/threads/extras/publishing/webhook"
	"example.com/threads/infrastructure/config"
)

// read reads the settings of a program with some kinds of brokers.
func read(kinds []*publishing.Kind, environment map[string]string) (publishing.Settings, error) {
	return config.Read(func(name string) string { return environment[name] },
		func(r *config.Reader) publishing.Settings { return publishing.ReadSettings(r, kinds...) })
}

func TestURLsThatNameNoBroker(t *testing.T) {
	all := []*publishing.Kind{nats.Kind, kafka.Kind, webhook.Kind}
	for _, url := range []string{"amqp://localhost", "nats://", "localhost:4222", "kafka:", "http://[::1", "https://u:t0psecret@"} {
		if _, err := read(all, map[string]string{"PUBLISH_URL": url}); err == nil || strings.Contains(err.Error(), "t0psecret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"", "nats://a:1,b:2", "tls://a", "kafka://a,b", "kafkas://a", "http://a", "https://a/b?c"} {
		if _, err := read(all, map[string]string{"PUBLISH_URL": url}); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, topic := range []string{"a b", "a..b", ".a", "a.*", "a.>"} {
		if _, err := read(all, map[string]string{"PUBLISH_TOPIC": topic}); err == nil {
			t.Errorf("%q was accepted as a topic", topic)
		}
	}
}

// A program that lacks a broker's client says which program has it.
func TestABrokerThatTheProgramLacks(t *testing.T) {
	for _, url := range []string{"nats://u:t0psecret@a", "tls://a", "kafka://a", "kafkas://a"} {
		_, err := read([]*publishing.Kind{webhook.Kind}, map[string]string{"PUBLISH_URL": url})
		if err == nil || !strings.Contains(err.Error(), "read-model-updater") || !strings.Contains(err.Error(), "https://") || strings.Contains(err.Error(), "t0psecret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
