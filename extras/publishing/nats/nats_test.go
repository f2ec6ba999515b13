package nats

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/brokertest"
)

func runNATS(t *testing.T, folder string, port int, token string) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, NoLog: true, NoSigs: true, MaxPayload: 1 << 20, Authorization: token,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return s
}

func TestNATS(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	folder := t.TempDir()
	port := testenv.FreePort(t) // it is started again there
	s := runNATS(t, folder, port, "t0psecret")
	url := fmt.Sprintf("nats://t0psecret@127.0.0.1:%d", port)
	publish := brokertest.Open(t, Kind, fmt.Sprintf("nats://t0psecret@127.0.0.1:%d,127.0.0.1:%d", testenv.FreePort(t), port))
	brokertest.Publishes(t, publish, func() (arrived []brokertest.Got) {
		conn, err := nats.Connect(url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		js, err := conn.JetStream()
		if err != nil {
			t.Fatal(err)
		}
		subscription, err := js.SubscribeSync(brokertest.Topic, nats.DeliverAll())
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			m, err := subscription.NextMsg(20 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			arrived = append(arrived, brokertest.Got{Key: m.Header.Get("partitionkey"), ContentType: m.Header.Get("content-type"), Body: m.Data})
		}
		return arrived
	})
	brokertest.Refuses(t, publish, brokertest.Event(1, 2<<20))

	s.Shutdown()
	s.WaitForShutdown()
	if err := brokertest.Fails(t, publish); err != nil && strings.Contains(err.Error(), "t0psecret") {
		t.Errorf("the error contains the token: %v", err)
	}
	refusing := runNATS(t, folder, port, "another")
	// Two refusals make the client give up, unless it is told not to.
	testenv.Eventually(t, 30*time.Second, func() error {
		seen, err := refusing.Varz(nil)
		if err == nil && seen.TotalConnections < 3 {
			err = errors.New("the client has not tried again")
		}
		return err
	})
	refusing.Shutdown()
	refusing.WaitForShutdown()
	again := runNATS(t, folder, port, "t0psecret")
	defer again.Shutdown()
	testenv.Eventually(t, 30*time.Second, func() error { return publish(t.Context(), brokertest.Event(1, 10)) })
}

const words = "Rhubarbwords"

// jetStreamSays is a NATS server on which a client answers in the place of JetStream.
func jetStreamSays(t *testing.T, subject, answer string) publishing.Publish {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if _, err := conn.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(answer)) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	return brokertest.Open(t, Kind, s.ClientURL())
}

// As in the package webhook.
func TestWhatABrokerSaysIsNotTold(t *testing.T) {
	for subject, answer := range map[string]string{
		"$JS.API.STREAM.NAMES": `{"error":{"code":500,"err_code":10999,"description":"` + words + `"}}`,
		"$JS.API.>":            `{"error":{"code":400,"err_code":10054,"description":"` + words + `"}}`,
		">":                    words,
	} {
		err := jetStreamSays(t, subject, answer)(t.Context(), brokertest.Event(1, 10))
		if err == nil || strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
