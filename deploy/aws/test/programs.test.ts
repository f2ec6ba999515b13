import assert from "node:assert/strict";
import { test } from "node:test";
import { Match } from "aws-cdk-lib/assertions";
import { contexts, resources, templatesOf } from "./stacks.js";

const prod = templatesOf(contexts.prod!);
const dev = templatesOf(contexts.dev!);

interface Container {
  readonly Name: string;
  readonly Command: string[];
  readonly ReadonlyRootFilesystem?: boolean;
  readonly Image: unknown;
  readonly Environment: { Name: string; Value: unknown }[];
  readonly Secrets: { Name: string; ValueFrom: unknown }[];
}

/** The containers of the programs, by their commands. */
function containers(...templates: (typeof prod.programs)[]): Record<string, Container> {
  const found = templates.flatMap((template) =>
    Object.values(resources(template, "AWS::ECS::TaskDefinition")).map(({ Properties: task }) => {
      assert.equal(task.RuntimePlatform.CpuArchitecture, "ARM64");
      return task.ContainerDefinitions.find((container: Container) => container.Name === "program") as Container;
    }),
  );
  return Object.fromEntries(found.map((container) => [container.Command[0]!.slice(1), container]));
}

test("one image, in which the command selects the program", () => {
  const found = containers(prod.programs, prod.jobs);
  assert.deepEqual(Object.keys(found).sort(), ["migrate", "read-api", "read-model-updater", "threadctl", "write-api"]);
  assert.equal(new Set(Object.values(found).map(({ Image }) => JSON.stringify(Image))).size, 1);
  for (const [program, container] of Object.entries(found)) {
    assert.equal(container.ReadonlyRootFilesystem, true, program);
    assert.match(JSON.stringify(container.Image), /:v1"/, program);
  }
});

test("each program has the database that it needs, as a secret", () => {
  const urls = Object.fromEntries(
    Object.entries(containers(prod.programs, prod.jobs)).map(([program, { Secrets }]) => [program, JSON.stringify(Secrets ?? [])]),
  );
  assert.equal(urls["write-api"], "[]");
  assert.match(urls["read-api"]!, /"DATABASE_URL".*ReaderUrl.*"READ_DATABASE_URL".*ReplicaUrl/);
  assert.doesNotMatch(JSON.stringify(containers(dev.programs)["read-api"]!.Secrets), /READ_DATABASE_URL/);
  for (const program of ["read-model-updater", "migrate", "threadctl"]) {
    assert.match(urls[program]!, /DATABASE_URL.*WriterUrl/, program);
  }
});

test("every program that opens the event store knows the numbers of shards", () => {
  const raised = templatesOf({ ...contexts["dev with Lambda"]!, shards: "64,16" });
  const found = containers(raised.programs, raised.jobs);
  for (const program of ["write-api", "read-api", "threadctl"]) {
    assert.equal(found[program]!.Environment.find(({ Name }) => Name === "SHARD_COUNT")?.Value, "64,16", program);
  }
  raised.programs.hasResourceProperties("AWS::Lambda::Function", { Environment: { Variables: Match.objectLike({ SHARD_COUNT: "64,16" }) } });
});

test("the updater alone publishes, where it is told to", () => {
  const told = templatesOf({ ...contexts.dev!, publishUrl: "nats://broker:4222" });
  const publishes = (templates: typeof told) =>
    Object.entries(containers(templates.programs, templates.jobs)).flatMap(([program, { Environment }]) =>
      (Environment ?? []).filter(({ Name }) => Name === "PUBLISH_URL").map(({ Value }) => [program, Value]),
    );
  assert.deepEqual(publishes(told), [["read-model-updater", "nats://broker:4222"]]);
  assert.deepEqual(publishes(dev), []);
  const publishSecret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:broker-AbCdEf";
  const secret = templatesOf({ ...contexts.dev!, publishSecret });
  assert.deepEqual(publishes(secret), []);
  const updater = containers(secret.programs)["read-model-updater"]!;
  assert.ok(updater.Secrets?.some(({ Name, ValueFrom }) => Name === "PUBLISH_URL" && ValueFrom === publishSecret));
});

test("prod trusts tokens alone, dev trusts those who reach it from inside", () => {
  const auth = (found: Record<string, Container>, program: string) => found[program]!.Environment.find(({ Name }) => Name === "AUTH")?.Value;
  for (const program of ["write-api", "read-api", "read-model-updater"]) {
    assert.equal(auth(containers(prod.programs), program), "oidc", program);
    assert.equal(auth(containers(dev.programs), program), "none", program);
  }
  const scheme = (Scheme: string) => ({ Scheme });
  prod.programs.hasResourceProperties("AWS::ElasticLoadBalancingV2::LoadBalancer", scheme("internet-facing"));
  dev.programs.hasResourceProperties("AWS::ElasticLoadBalancingV2::LoadBalancer", scheme("internal"));
  for (const { Properties: group } of Object.values(resources(dev.programs, "AWS::EC2::SecurityGroup"))) {
    for (const rule of group.SecurityGroupIngress ?? []) {
      assert.notEqual(rule.CidrIp, "0.0.0.0/0");
    }
  }
});

test("from the internet there is TLS only", () => {
  prod.programs.hasResourceProperties("AWS::ElasticLoadBalancingV2::Listener", {
    Port: 80, DefaultActions: [{ Type: "redirect", RedirectConfig: Match.objectLike({ Protocol: "HTTPS", Port: "443" }) }],
  });
  prod.programs.hasResourceProperties("AWS::ElasticLoadBalancingV2::Listener", {
    Port: 443, Certificates: [{ CertificateArn: contexts.prod!.certificate }],
  });
  prod.programs.resourceCountIs("AWS::ElasticLoadBalancingV2::Listener", 2);
});

test("queries go to the read-api, everything else to the write-api, when they are ready", () => {
  for (const port of [28080, 28082]) {
    prod.programs.hasResourceProperties("AWS::ElasticLoadBalancingV2::TargetGroup", { Port: port, HealthCheckPath: "/health/ready" });
    prod.programs.hasResourceProperties("AWS::ECS::Service", { LoadBalancers: [Match.objectLike({ ContainerPort: port })], DesiredCount: Match.absent() });
  }
  const [rule] = Object.values(resources(prod.programs, "AWS::ElasticLoadBalancingV2::ListenerRule"));
  assert.deepEqual(rule!.Properties.Conditions, [{ Field: "path-pattern", PathPatternConfig: { Values: ["/graphql", "/graphql/*"] } }]);
  assert.match(JSON.stringify(rule!.Properties.Actions), /ReadTargets/);
});

test("a deployment that fails goes back, and a standby updater takes over", () => {
  prod.programs.resourceCountIs("AWS::ECS::Service", 3);
  prod.programs.resourcePropertiesCountIs("AWS::ECS::Service", { DesiredCount: 2 }, 1);
  prod.programs.allResourcesProperties("AWS::ECS::Service", {
    DeploymentConfiguration: { DeploymentCircuitBreaker: { Enable: true, Rollback: true }, MinimumHealthyPercent: 100, MaximumPercent: 200 },
  });
});

test("a release replaces the updater, then the read-api, then the write-api", () => {
  for (const [name, updater] of [["prod", "readmodelupdaterService"], ["dev with Lambda", "LambdaUpdaterFunction"]] as const) {
    const services = Object.entries(resources(templatesOf(contexts[name]!).programs, "AWS::ECS::Service"));
    const dependsOn = (program: string) => services.find(([id]) => id.startsWith(program))![1].DependsOn!.join();
    assert.match(dependsOn("readapiService"), new RegExp(updater), name);
    assert.match(dependsOn("writeapiService"), /readapiService/, name);
  }
});

test("what Lambda gives up makes the same function read the journal", () => {
  const { programs } = templatesOf(contexts["prod with Lambda and provisioned tables"]!);
  const queues = resources(programs, "AWS::SQS::Queue");
  assert.equal(Object.keys(queues).length, 2);
  const mappings = Object.values(resources(programs, "AWS::Lambda::EventSourceMapping")).map(({ Properties: mapping }) => mapping);
  for (const [id, { Properties: queue }] of Object.entries(queues)) {
    assert.deepEqual([queue.MessageRetentionPeriod, queue.SqsManagedSseEnabled], [14 * 24 * 3600, true], id);
    const arn = JSON.stringify({ "Fn::GetAtt": [id, "Arn"] });
    const fills = mappings.filter(({ DestinationConfig: to }) => JSON.stringify(to?.OnFailure?.Destination) === arn);
    const empties = mappings.filter(({ EventSourceArn: from }) => JSON.stringify(from) === arn);
    assert.deepEqual([fills.length, empties.length], [1, 1], id);
    assert.deepEqual(fills[0]!.FunctionName, empties[0]!.FunctionName, id);
  }
  programs.allResourcesProperties("AWS::SQS::QueuePolicy", {
    PolicyDocument: Match.objectLike({ Statement: Match.arrayWith([Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } })]) }),
  });
});

test("with Lambda there is no updater service, and no record is given up", () => {
  for (const name of ["prod with Lambda and provisioned tables", "dev with Lambda"]) {
    const { programs } = templatesOf(contexts[name]!);
    programs.resourceCountIs("AWS::ECS::Service", 2);
    programs.hasResourceProperties("AWS::Lambda::Function", { Runtime: "provided.al2023", Architectures: ["arm64"], Handler: "bootstrap" });
    programs.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      StartingPosition: "TRIM_HORIZON",
      FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ["INSERT"] }) }] },
      MaximumRetryAttempts: Match.absent(),
      MaximumRecordAgeInSeconds: Match.absent(),
      MetricsConfig: { Metrics: ["EventCount"] }, // for an alarm
    });
    programs.hasResourceProperties("AWS::Lambda::EventInvokeConfig", { MaximumRetryAttempts: 0 }); // the schedule calls again
    const [updater] = Object.values(resources(programs, "AWS::Lambda::Function"));
    assert.ok(updater!.Properties.ReservedConcurrentExecutions > 1, name);
    programs.hasResourceProperties("AWS::Events::Rule", {
      ScheduleExpression: "rate(1 minute)", Targets: [Match.objectLike({ Input: JSON.stringify({ Records: [] }) })],
    });
  }
});
