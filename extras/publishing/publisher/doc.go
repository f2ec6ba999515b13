// Package publisher gives extras/publishing its brokers: NATS JetStream, Kafka and webhooks, each behind Watermill's
// publisher interface. [Open] finds the broker by the URL's scheme. [Decode] and [Encode] make CloudEvents of journal
// records. docs/asyncapi.yaml describes what subscribers get.
package publisher
