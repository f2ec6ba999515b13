package compose_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const root = "../../.."

var (
	programs = []string{"write-api", "read-model-updater", "read-api", "web", "dev-issuer"}
	jobs     = []string{"dynamodb-setup", "migrate"}
	services = []string{"dynamodb", "mysql", "dynamodb-admin", "nats", "prometheus", "grafana", "jaeger"}
)

// load reads the compose file with only env in the environment, and with every profile.
func load(t *testing.T, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions(
		[]string{filepath.Join(root, "docker-compose.yml")},
		cli.WithName("threads"), cli.WithEnv(env), cli.WithProfiles([]string{"*"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("docker-compose.yml is not valid: %v", err)
	}
	return project
}

func service(t *testing.T, project *types.Project, name string) types.ServiceConfig {
	t.Helper()
	found, err := project.GetService(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNothingMissingAndNothingMore(t *testing.T) {
	want := slices.Concat(programs, jobs, services)
	slices.Sort(want)
	if got := load(t).ServiceNames(); !slices.Equal(got, want) {
		t.Errorf("services are %v, want %v", got, want)
	}
}

// With a moving tag, the same file would start another system tomorrow.
func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-alpine)?$`)
	project := load(t)
	for _, name := range services {
		if image := service(t, project, name).Image; !pinned.MatchString(image) {
			t.Errorf("%s runs %q, want a tag with the number of a version", name, image)
		}
	}
}

func TestProgramsHaveNoRightsThatTheyDoNotNeed(t *testing.T) {
	project := load(t)
	for _, name := range slices.Concat(programs, jobs) {
		s := service(t, project, name)
		if !s.ReadOnly || s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0 ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.MemLimit == 0 {
			t.Errorf("%s has rights that it does not need: %+v", name, s)
		}
		if s.User != "" || s.Build == nil {
			t.Errorf("%s does not run as the user of the image that is built here", name)
		}
	}
}

func TestWhatStaysUpIsWatchedAndStartedAgain(t *testing.T) {
	project := load(t)
	for _, name := range slices.Concat(programs, services) {
		s := service(t, project, name)
		if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) < 2 || s.HealthCheck.Interval == nil {
			t.Errorf("%s has no health check", name)
		}
		if s.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s: restart is %q, want unless-stopped", name, s.Restart)
		}
	}
	for _, name := range programs {
		s := service(t, project, name)
		url := "http://127.0.0.1:" + strconv.FormatUint(uint64(s.Ports[0].Target), 10) + "/health/ready"
		if want := []string{"CMD", "/healthcheck", url}; !slices.Equal(s.HealthCheck.Test, want) {
			t.Errorf("%s: the health check is %v, want %v", name, s.HealthCheck.Test, want)
		}
	}
	for _, name := range jobs {
		if restart := service(t, project, name).Restart; restart != types.RestartPolicyNo {
			t.Errorf("%s must run once, but restart is %q", name, restart)
		}
	}
}

func TestOrderOfStart(t *testing.T) {
	const healthy, done = types.ServiceConditionHealthy, types.ServiceConditionCompletedSuccessfully
	want := map[string]map[string]string{
		"write-api":          {"dynamodb-setup": done},
		"read-model-updater": {"dynamodb-setup": done, "migrate": done},
		"read-api":           {"migrate": done},
		"dynamodb-setup":     {"dynamodb": healthy},
		"migrate":            {"mysql": healthy},
		"dynamodb-admin":     {"dynamodb": healthy},
		"dev-issuer":         {},
		"prometheus":         {},
		"grafana":            {},
		"jaeger":             {},
		"web":                {},
		"dynamodb":           {},
		"mysql":              {},
		"nats":               {},
	}
	project := load(t)
	for name, conditions := range want {
		dependencies := service(t, project, name).DependsOn
		if len(dependencies) != len(conditions) {
			t.Errorf("%s waits for %v, want %v", name, dependencies, conditions)
		}
		for on, condition := range conditions {
			if got := dependencies[on].Condition; got != condition {
				t.Errorf("%s waits for %s to be %q, want %q", name, on, got, condition)
			}
		}
	}
}

func TestDataOutlivesContainers(t *testing.T) {
	project := load(t)
	for _, name := range []string{"dynamodb", "mysql", "nats"} {
		volumes := service(t, project, name).Volumes
		if len(volumes) != 1 || volumes[0].Type != types.VolumeTypeVolume || volumes[0].Source != name {
			t.Errorf("%s keeps its data in %v, want the volume of its name", name, volumes)
		}
		if _, declared := project.Volumes[name]; !declared {
			t.Errorf("there is no volume %s", name)
		}
	}
}

func TestPortsAreThisMachinesAlone(t *testing.T) {
	want := map[string]string{
		"write-api": "28080", "read-model-updater": "28081", "read-api": "28082", "web": "28083",
		"dynamodb": "28000", "mysql": "23306", "dynamodb-admin": "28001", "dev-issuer": "28084",
		"nats": "4222", "prometheus": "28090", "grafana": "28091", "jaeger": "28092",
	}
	for name, s := range load(t).Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" || port.Published != want[name] {
				t.Errorf("%s is published at %s:%s, want 127.0.0.1:%s", name, port.HostIP, port.Published, want[name])
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not published: %v", want)
	}
}

func TestWhatHasAProfile(t *testing.T) {
	profiles := map[string][]string{
		"dynamodb-admin": {"admin"}, "dev-issuer": {"auth"}, "nats": {"publish"},
		"prometheus": {"observe"}, "grafana": {"observe"}, "jaeger": {"observe"},
	}
	for name, s := range load(t).Services {
		if !slices.Equal(s.Profiles, profiles[name]) {
			t.Errorf("%s has the profiles %v, want %v", name, s.Profiles, profiles[name])
		}
	}
}

// The APIs must trust the profile's issuer under the name in its tokens, which must also be its name in the network.
func TestTheIssuerHasOneName(t *testing.T) {
	project := load(t, "AUTH=oidc")
	issuer := service(t, project, "dev-issuer")
	url := *issuer.Environment["DEV_ISSUER_URL"]
	if aliases := issuer.Networks["default"].Aliases; len(aliases) != 1 || url != "http://"+aliases[0]+":28084" {
		t.Errorf("the issuer is %s, and the network calls it %v", url, aliases)
	}
	for _, name := range []string{"write-api", "read-model-updater", "read-api", "web"} {
		environment := service(t, project, name).Environment
		if *environment["AUTH"] != "oidc" || *environment["AUTH_ISSUER"] != url || *environment["AUTH_AUDIENCE"] != "threads" {
			t.Errorf("%s trusts %s with AUTH=%s", name, *environment["AUTH_ISSUER"], *environment["AUTH"])
		}
	}
}
