// extra:whole

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// Secrets must not be in any log, even at the most verbose level, nor in any answer.
func TestNoSecretIsToldAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	const canary = "canary7f3a"
	i := newIssuer(t)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer hook.Close() // a refusing broker causes the most log lines
	publish := strings.Replace(hook.URL, "://", "://"+canary+":"+canary+"@", 1) + "/" + canary + "?token=" + canary
	r := start(t, i.trusted("LOG_LEVEL", "debug", "PUBLISH_URL", publish))
	good := i.token(t, ada, acme, usual)
	signature := good[strings.LastIndex(good, ".")+1:]
	var told []string
	keep := func(got answer) {
		told = append(told, got.raw)
		for name, values := range got.header {
			told = append(told, name+": "+strings.Join(values, ", "))
		}
	}
	keep(r.do(t, good, "/threads/create", map[string]any{"name": "tea"}))
	for _, token := range []string{
		good, good[:len(good)-4] + "AAAA", canary + "." + canary + "." + canary, "eyJhbGciOiJub25lIn0." + canary + ".",
		i.tokenFor(t, ada, acme, usual, -time.Minute), i.token(t, ada, acme, canary), i.token(t, canary, acme, usual), i.token(t, ada, canary+"!", usual),
	} {
		keep(r.do(t, token, "/threads/create", map[string]any{"name": "tea", "executor_id": bob}))
		keep(r.ask(t, token, "{ threads { edges { cursor } } }"))
		if _, err := r.connect(t, map[string]any{"authorization": "Bearer " + token, "password": canary}, nil); err != nil {
			told = append(told, err.Error())
		}
	}
	got, err := send(t, http.MethodPost, r.write+"/threads/create?access_token="+canary, "{}", []string{"Authorization", "Basic " + canary, "Cookie", "session=" + canary})
	if err != nil {
		t.Fatal(err)
	}
	keep(got)
	for _, url := range []string{r.write + "/metrics", r.read + "/metrics", r.updater + "/metrics", r.write + "/health/ready", r.read + "/health/ready"} {
		got, err := send(t, http.MethodGet, url, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		keep(got)
	}
	testenv.Eventually(t, 20*time.Second, func() error {
		if !strings.Contains(r.said.String(), "the broker refuses") {
			return errors.New("the refusal is not in the log")
		}
		return nil
	})
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if said := r.said.String(); !strings.Contains(said, "/threads/create") {
		t.Fatalf("the log lacks the requests, so this test proves nothing:\n%s", said)
	}
	told = append(told, r.said.String())
	for _, text := range told {
		for _, secret := range []string{canary, signature, good} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("a secret is visible: %s", text[max(0, at-100):min(len(text), at+100)])
			}
		}
	}
}
