package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/threads/infrastructure/httpserver"
)

const (
	statusTimeout = 2 * time.Second
	statusFresh   = 250 * time.Millisecond // minimum time between requests to the programs
	maxFigures    = 1 << 20                // bytes
)

// programStatus is a program's readiness and its figures.
type programStatus struct {
	Name    string             `json:"name"`
	Up      bool               `json:"up"`
	Health  *health            `json:"health,omitempty"`
	Figures map[string]float64 `json:"figures"`
}

// health is what the page shows of a program's answer to /health/ready. Only the updater has all of it.
type health struct {
	Status            string   `json:"status"`
	Reason            string   `json:"reason,omitempty"`
	Warnings          []string `json:"warnings,omitempty"`
	BehindSeconds     *float64 `json:"behind_seconds,omitempty"`
	BehindRecords     *int     `json:"behind_records,omitempty"`
	BehindAtLeast     bool     `json:"behind_at_least,omitempty"` // both values may be higher
	Active            *bool    `json:"active,omitempty"`
	ParkedAggregates  *int     `json:"parked_aggregates,omitempty"`
	DriftedAggregates *int     `json:"drifted_aggregates,omitempty"`
	Rebuild           *rebuild `json:"rebuild,omitempty"`
}

type rebuild struct {
	Phase       string `json:"phase"`
	Events      uint64 `json:"events"`
	EventsTotal uint64 `json:"events_total"`
	Failure     string `json:"failure,omitempty"` // why it has stopped
	Interrupted bool   `json:"interrupted"`
}

// statusAnswer is the answer of /status.
type statusAnswer struct {
	Programs []programStatus `json:"programs"`
}

// status answers /status with the health and the metrics of the programs behind the page.
type status struct {
	programs Programs
	client   http.Client

	mutex  sync.Mutex // held while the programs are queried
	asked  time.Time
	answer statusAnswer
}

func (s *status) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	if time.Since(s.asked) > statusFresh {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), statusTimeout)
		defer cancel()
		found := []programStatus{{Name: "write-api"}, {Name: "read-model-updater"}, {Name: "read-api"}}
		var asking sync.WaitGroup
		for i, url := range []string{s.programs.Write, s.programs.Updater, s.programs.Read} {
			asking.Go(func() { s.ask(ctx, url, &found[i]) })
		}
		asking.Wait()
		s.asked, s.answer = time.Now(), statusAnswer{found}
	}
	answer := s.answer
	s.mutex.Unlock()
	httpserver.WriteJSON(w, http.StatusOK, answer)
}

func (s *status) ask(ctx context.Context, url string, found *programStatus) {
	var ready health
	if answer, err := s.get(ctx, url+"/health/ready"); err == nil && json.Unmarshal(answer, &ready) == nil {
		found.Up, found.Health = true, &ready
	}
	text, err := s.get(ctx, url+"/metrics")
	if err != nil {
		text = nil
	}
	found.Figures = figures(string(text))
}

func (s *status) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(io.LimitReader(response.Body, maxFigures))
}

// refused are the outcomes of commands that got a clear no.
var refused = regexp.MustCompile(`outcome="(invalid|not_found|forbidden|conflict|version_mismatch|key_reused)"`)

// figures reads the application's metrics from Prometheus' text format: those without labels, and the sums of counts
// and of histograms' buckets, as name:le. Of requests, only those that clients wait for count: POST.
func figures(text string) map[string]float64 {
	found := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		end := strings.LastIndexByte(lines.Text(), ' ')
		if end < 0 {
			continue
		}
		name, labels, labelled := strings.Cut(lines.Text()[:end], "{")
		_, bound, bucket := strings.Cut(labels, `le="`)
		isPost := name != "http_request_duration_seconds_bucket" || strings.Contains(labels, `method="POST"`)
		if strings.HasPrefix(name, "#") || strings.HasPrefix(name, "go_") || !isPost || labelled && !bucket && name != "commands_total" {
			continue
		}
		if bucket {
			name += ":" + strings.TrimRight(bound, `"}`)
		}
		number, err := strconv.ParseFloat(lines.Text()[end+1:], 64)
		if err != nil {
			continue
		}
		found[name] += number
		if name == "commands_total" && refused.MatchString(labels) {
			found["commands_refused_total"] += number
		}
	}
	return found
}
