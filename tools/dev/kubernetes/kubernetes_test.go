package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const folder = "../../../deploy/kubernetes"

// objects are those of an overlay, by type and name.
type objects struct {
	deployments map[string]*appsv1.Deployment
	services    map[string]*corev1.Service
	accounts    map[string]*corev1.ServiceAccount
	configs     map[string]*corev1.ConfigMap
	budgets     map[string]*policyv1.PodDisruptionBudget
	scalers     map[string]*autoscalingv2.HorizontalPodAutoscaler
	policies    map[string]*networkingv1.NetworkPolicy
	ingresses   map[string]*networkingv1.Ingress
}

// add decodes an object. A field that Kubernetes does not know is an error.
func (o *objects) add(text []byte) error {
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	switch kind := head.APIVersion + " " + head.Kind; kind {
	case "apps/v1 Deployment":
		return decode(text, head.Name, &o.deployments)
	case "v1 Service":
		return decode(text, head.Name, &o.services)
	case "v1 ServiceAccount":
		return decode(text, head.Name, &o.accounts)
	case "v1 ConfigMap":
		return decode(text, head.Name, &o.configs)
	case "policy/v1 PodDisruptionBudget":
		return decode(text, head.Name, &o.budgets)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return decode(text, head.Name, &o.scalers)
	case "networking.k8s.io/v1 NetworkPolicy":
		return decode(text, head.Name, &o.policies)
	case "networking.k8s.io/v1 Ingress":
		return decode(text, head.Name, &o.ingresses)
	default:
		return fmt.Errorf("%s is a kind that no manifest had when this test was written", kind)
	}
}

func decode[T any](text []byte, name string, into *map[string]*T) error {
	made := new(T)
	if err := yaml.UnmarshalStrict(text, made); err != nil {
		return fmt.Errorf("%T %s: %w", made, name, err)
	}
	if *into == nil {
		*into = map[string]*T{}
	}
	(*into)[name] = made
	return nil
}

func build(t *testing.T, path string) *objects {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(folder, path))
	if err != nil {
		t.Fatal(err)
	}
	o := new(objects)
	for _, resource := range made.Resources() {
		text, err := resource.AsYAML()
		if err == nil {
			err = o.add(text)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if len(o.deployments) != 3 {
		t.Fatalf("there are %d deployments", len(o.deployments))
	}
	return o
}

// inEach tests every overlay: events in MySQL, and in DynamoDB.
func inEach(t *testing.T, test func(*testing.T, *objects)) {
	t.Helper()
	for _, path := range []string{"overlays/example", "overlays/dynamodb"} {
		t.Run(path, func(t *testing.T) { test(t, build(t, path)) })
	}
}

// What Kubernetes would drop in silence, or refuse, must fail here.
func TestAWrongFieldIsFound(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: apps/v1, kind: Deployment, spec: {replica: 2}}",
		"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: many}}",
		"{apiVersion: extensions/v1beta1, kind: Ingress}",
	} {
		if err := new(objects).add([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func containersOf(d *appsv1.Deployment) []corev1.Container {
	pod := d.Spec.Template.Spec
	return slices.Concat(pod.InitContainers, pod.Containers)
}

var (
	variable = regexp.MustCompile(`(?m)^  ([A-Z][A-Z0-9_]+) `)
	address  = regexp.MustCompile(`\(:(\d+)\)`)
)

// The programs must read every variable that is set, and listen on the ports that the manifests name.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds the programs")
	}
	binaries := t.TempDir()
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", binaries, "./cmd/write-api", "./cmd/read-api", "./cmd/read-model-updater", "./rdb-migration/cmd/migrate")
	compile.Dir = "../../.."
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	inEach(t, func(t *testing.T, o *objects) { testSettings(t, o, binaries) })
}

func testSettings(t *testing.T, o *objects, binaries string) {
	t.Helper()
	unread := map[string]bool{}
	for _, config := range o.configs {
		for name := range config.Data {
			unread[name] = true
		}
	}
	if len(unread) < 5 {
		t.Errorf("the settings are only %v", unread)
	}
	for _, d := range o.deployments {
		for _, container := range containersOf(d) {
			help, err := exec.CommandContext(t.Context(), filepath.Join(binaries, container.Command[0]), "--help").Output()
			if err != nil {
				t.Fatalf("%v: %v", container.Command, err)
			}
			var read []string
			for _, found := range variable.FindAllSubmatch(help, -1) {
				read = append(read, string(found[1]))
				delete(unread, string(found[1]))
			}
			for _, set := range container.Env {
				if !slices.Contains(read, set.Name) {
					t.Errorf("%s does not read %s", container.Name, set.Name)
				}
			}
			own := address.FindSubmatch(help)
			for _, port := range container.Ports {
				if port.Name == "http" && (own == nil || string(own[1]) != fmt.Sprint(port.ContainerPort)) {
					t.Errorf("%s listens on %s, not on %d", container.Name, own, port.ContainerPort)
				}
				if metrics := fmt.Sprint(":", port.ContainerPort); port.Name == "metrics" && !slices.Contains(container.Env, corev1.EnvVar{Name: "METRICS_ADDR", Value: metrics}) {
					t.Errorf("%s does not serve metrics on %s", container.Name, metrics)
				}
			}
		}
	}
	if len(unread) > 0 {
		t.Errorf("no program reads %v", slices.Sorted(maps.Keys(unread)))
	}
}

// No container may have rights or resources without bounds.
func TestContainers(t *testing.T) { inEach(t, testContainers) }

func testContainers(t *testing.T, o *objects) {
	t.Helper()
	for name, d := range o.deployments {
		pod := d.Spec.Template.Spec
		if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: the pod's security is %v", name, s)
		}
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s has a token for Kubernetes", name)
		}
		for _, container := range containersOf(d) {
			s := container.SecurityContext
			if s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s: the security of %s is %v", name, container.Name, s)
			}
			limits := container.Resources.Limits
			if limits.Memory().IsZero() || limits.Cpu().IsZero() || container.Resources.Requests.Memory().Cmp(*limits.Memory()) != 0 {
				t.Errorf("%s: the resources of %s are %v", name, container.Name, container.Resources)
			}
			if container.Image != "registry.example.com/threads:v1" {
				t.Errorf("%s: the image of %s is %s", name, container.Name, container.Image)
			}
		}
		own := pod.Containers[0]
		for path, probe := range map[string]*corev1.Probe{"/health/alive": own.LivenessProbe, "/health/ready": own.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || portOf(own, probe.HTTPGet.Port) == 0 {
				t.Errorf("%s: the probe of %s is %v", name, path, probe)
			}
		}
		if own.StartupProbe == nil {
			t.Errorf("%s is killed when it starts slowly", name)
		}
	}
}

// portOf returns the number of a container's port; 0: it has none like that.
func portOf(container corev1.Container, port intstr.IntOrString) int32 {
	for _, has := range container.Ports {
		if port.StrVal == has.Name || port.IntVal == has.ContainerPort {
			return has.ContainerPort
		}
	}
	return 0
}

// Everything that names another object must find it.
func TestReferences(t *testing.T) { inEach(t, testReferences) }

func testReferences(t *testing.T, o *objects) {
	t.Helper()
	selects := func(selector *metav1.LabelSelector) (found []*appsv1.Deployment) {
		match, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range o.deployments {
			if match.Matches(labels.Set(d.Spec.Template.Labels)) {
				found = append(found, d)
			}
		}
		return found
	}
	for name, d := range o.deployments {
		if own := selects(d.Spec.Selector); len(own) != 1 || own[0] != d {
			t.Errorf("deployment %s selects %d kinds of pods", name, len(own))
		}
		if o.accounts[d.Spec.Template.Spec.ServiceAccountName] == nil || o.budgets[name] == nil {
			t.Errorf("%s has no account or no budget for disruptions", name)
		}
		if scaled := o.scalers[name] != nil; scaled != (d.Spec.Replicas == nil) {
			t.Errorf("%s: an autoscaler sets the number of pods: %v; the deployment: %v", name, scaled, d.Spec.Replicas)
		}
		for _, container := range containersOf(d) {
			for _, from := range container.EnvFrom {
				if o.configs[from.ConfigMapRef.Name] == nil {
					t.Errorf("%s: there is no config map %s", name, from.ConfigMapRef.Name)
				}
			}
		}
	}
	for name, budget := range o.budgets {
		if found := selects(budget.Spec.Selector); len(found) != 1 || found[0].Name != name {
			t.Errorf("the budget of %s selects %d kinds of pods", name, len(found))
		}
	}
	for name, scaler := range o.scalers {
		if target := o.deployments[scaler.Spec.ScaleTargetRef.Name]; target == nil || target.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().IsZero() {
			t.Errorf("the autoscaler %s has nothing to measure", name)
		}
	}
	for name, service := range o.services {
		found := selects(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})
		if len(found) != 1 || portOf(found[0].Spec.Template.Spec.Containers[0], service.Spec.Ports[0].TargetPort) == 0 {
			t.Errorf("the service %s selects %d kinds of pods, or no port", name, len(found))
		}
	}
	routed := 0
	for name, ingress := range o.ingresses {
		for _, path := range ingress.Spec.Rules[0].HTTP.Paths {
			routed++
			service := o.services[path.Backend.Service.Name]
			if service == nil || service.Spec.Ports[0].Name != path.Backend.Service.Port.Name {
				t.Errorf("the ingress %s names a service %s", name, path.Backend.Service.Name)
			}
		}
	}
	if routed != 2 {
		t.Errorf("the ingress has %d paths", routed)
	}
}

// Without a policy that names it, nothing may reach a pod or leave it.
func TestNetwork(t *testing.T) { inEach(t, testNetwork) }

func testNetwork(t *testing.T, o *objects) {
	t.Helper()
	nothing := o.policies["nothing"]
	if nothing == nil || len(nothing.Spec.PodSelector.MatchLabels) > 0 || len(nothing.Spec.PolicyTypes) != 2 || nothing.Spec.Ingress != nil || nothing.Spec.Egress != nil {
		t.Errorf("the default is %v", nothing)
	}
	entries := 0
	for name, policy := range o.policies {
		match, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range policy.Spec.Ingress {
			if len(rule.From) == 0 || len(rule.Ports) == 0 {
				t.Errorf("the policy %s lets everybody in, or on every port", name)
			}
			for _, port := range rule.Ports {
				for program, d := range o.deployments {
					if match.Matches(labels.Set(d.Spec.Template.Labels)) {
						entries++
						if portOf(d.Spec.Template.Spec.Containers[0], *port.Port) == 0 {
							t.Errorf("the policy %s names port %v, which %s does not have", name, port.Port, program)
						}
					}
				}
			}
		}
	}
	if entries != 5 { // requests to two programs, metrics of three
		t.Errorf("there are %d ways in", entries)
	}
}

// On DynamoDB each program must have a role of its own, by the name of the program whose actions deploy/aws lists.
func TestRoles(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/aws/actions.json")
	if err != nil {
		t.Fatal(err)
	}
	var actions map[string]any
	if err := json.Unmarshal(text, &actions); err != nil {
		t.Fatal(err)
	}
	for name, account := range build(t, "overlays/dynamodb").accounts {
		role := account.Annotations["eks.amazonaws.com/role-arn"]
		if actions[name] == nil || !strings.HasSuffix(role, ":role/threads-"+name) {
			t.Errorf("%s has the role %q", name, role)
		}
	}
}
