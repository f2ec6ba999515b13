package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/lambdatest"
)

const observeFolder = "../../deploy/observe"

type alert struct {
	Alert, Expr string
	Annotations struct{ Summary, Runbook string }
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observeFolder, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// dashboard returns the expressions of the dashboard's panels, by their titles.
func dashboard(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observeFolder, "grafana", "dashboards", "threads.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	panels := map[string][]string{}
	for _, panel := range file.Panels {
		for _, target := range panel.Targets {
			panels[panel.Title] = append(panels[panel.Title], target.Expr)
		}
	}
	return panels
}

var (
	notMetrics = regexp.MustCompile(`\{[^}]*\}|\b(by|without|on|ignoring) *\([^)]*\)|\[[^\]]*\]|\boffset +\w+|\b(and|or|unless|bool)\b`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]* *\(?`)
)

// metricsIn returns the names of the metrics in an expression of PromQL.
func metricsIn(expression string) (names []string) {
	for _, found := range identifier.FindAllString(notMetrics.ReplaceAllString(expression, " "), -1) {
		if name := strings.TrimSpace(found); !strings.HasSuffix(name, "(") {
			names = append(names, name)
		}
	}
	return names
}

func TestMetricsInExpressions(t *testing.T) {
	got := metricsIn(`histogram_quantile(0.9, sum by (job, le) (rate(a_bucket{x=~"b|c"}[5m]))) / sum(d_total) > 1 and max(e) or vector(0) unless e offset 1h`)
	if want := []string{"a_bucket", "d_total", "e", "e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatIsWatchedIsMeasured compares the metrics in alerts and dashboard with those that the programs export, and
// writes which program has which of them.
func TestWhatIsWatchedIsMeasured(t *testing.T) {
	startsPrograms(t)
	broker := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer broker.Close()
	s := threePrograms(t, append(dynamoDB(t), "PUBLISH_URL="+broker.URL))
	ada := s.person("acme")
	thread := ada.command(t, "/threads/create", fields{"name": "metrics"})
	ada.view(t, thread.text("thread_id"), token(thread))
	offered := map[string]bool{}
	programs := map[string]map[string]bool{}
	offers := func(program, name string) {
		if programs[program] == nil {
			programs[program] = map[string]bool{}
		}
		programs[program][name], offered[name] = true, true
	}
	sample := regexp.MustCompile(`(?m)^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	for program, url := range map[string]string{"write-api": s.writeURL, "read-model-updater": s.updaterURL, "read-api": s.readURL} {
		offers(program, "up") // Prometheus sets it
		for _, name := range sample.FindAllString(get(t, url+"/metrics"), -1) {
			offers(program, name)
		}
	}
	// This metric only exists while there are unknown types, so look for it in the source.
	if source, err := os.ReadFile("../../es/run/state.go"); err != nil || !strings.Contains(string(source), `"projection_unregistered_type"`) {
		t.Errorf("the updater does not measure unknown types: %v", err)
	}
	offers("read-model-updater", "projection_unregistered_type")

	watched := map[string]bool{}
	check := func(by, expression string) {
		names := metricsIn(expression)
		if len(names) == 0 {
			t.Errorf("%s: no metric in %q", by, expression)
		}
		for _, name := range names {
			if !offered[name] {
				t.Errorf("%s: no program exports %s", by, name)
			}
		}
	}
	for _, rule := range alerts(t) {
		check("alert "+rule.Alert, rule.Expr)
		for _, name := range metricsIn(rule.Expr) {
			watched[name] = true
		}
	}
	fed := figuresOnLambda(t, s.store)
	for program, names := range programs {
		for name := range names {
			if watched[name] {
				fed[program] = append(fed[program], name)
			}
		}
		slices.Sort(fed[program])
	}
	wantFile(t, awsMetrics, fed)
	for title, expressions := range dashboard(t) {
		for _, expression := range expressions {
			check("panel "+title, expression)
		}
	}
	page := get(t, s.writeURL+"/metrics")
	for _, consumed := range []string{
		`index="",operation="TransactWriteItems",table=`, `index="journal-aid-index",operation="TransactWriteItems",table=`,
	} {
		if !strings.Contains(page, "dynamodb_consumed_capacity_units_total{"+consumed) {
			t.Errorf("the write-api does not count the capacity of %s", consumed)
		}
	}
}

// figuresOnLambda returns the metrics that CloudWatch makes of what the function writes, as updater and as publisher.
func figuresOnLambda(t *testing.T, env []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, program := range []string{"lambda-updater", "lambda-publisher"} {
		publishes := program == "lambda-publisher"
		own := slices.DeleteFunc(slices.Clone(env), func(each string) bool { return strings.HasPrefix(each, "PUBLISH_URL=") && !publishes })
		output := &testenv.Log{}
		function := lambdatest.NewService(t, &lambdatest.Service{
			Path: filepath.Join(binaries, "lambda-updater"), Timeout: time.Minute, Output: output, Env: append(own, "LOG_LEVEL=error"),
		}, 1)
		if answer, err := function.Invoke(t.Context(), []byte(`{"Records":[]}`)); err != nil {
			t.Fatalf("%s, %v\n%s", answer, err, output)
		}
		var line struct {
			AWS struct {
				CloudWatchMetrics []struct{ Metrics []struct{ Name string } }
			} `json:"_aws"`
		}
		if err := json.Unmarshal([]byte(output.String()), &line); err != nil || len(line.AWS.CloudWatchMetrics) != 1 {
			t.Fatalf("%s: %v", output, err)
		}
		for _, metric := range line.AWS.CloudWatchMetrics[0].Metrics {
			found[program] = append(found[program], metric.Name)
		}
		slices.Sort(found[program])
	}
	return found
}

// TestAlertsNameTheirRunbook checks that the headings in the alerts' runbook links exist.
func TestAlertsNameTheirRunbook(t *testing.T) {
	const document = "docs/operations.md"
	text, err := os.ReadFile("../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	unwanted := regexp.MustCompile(`[^a-z0-9 -]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		plain := unwanted.ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors[document+"#"+strings.ReplaceAll(plain, " ", "-")] = true
	}
	all := alerts(t)
	if len(all) == 0 {
		t.Error("there are no alerts")
	}
	for _, rule := range all {
		if rule.Annotations.Summary == "" || !anchors[rule.Annotations.Runbook] {
			t.Errorf("alert %s: summary %q, and there is no heading for the runbook %q", rule.Alert, rule.Annotations.Summary, rule.Annotations.Runbook)
		}
	}
}
