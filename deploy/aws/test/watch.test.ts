import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { allAlerts } from "../lib/alerts.js";
import { collector } from "../lib/collector.js";
import { metrics } from "../lib/definitions.js";
import { type CloudResource, contexts, resources, root, templatesOf } from "./stacks.js";

const rules = readFileSync(join(root, "deploy/observe/alerts.yml"), "utf8");
const operations = readFileSync(join(root, "docs/operations.md"), "utf8");
const namesIn = (text: string) => [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);

const prod = templatesOf(contexts.prod!).programs;
const lambda = templatesOf(contexts["prod with Lambda and provisioned tables"]!).programs;

function deployedRules(template: Template): string {
  const [namespace] = Object.values(resources(template, "AWS::APS::RuleGroupsNamespace"));
  return namespace!.Properties.Data as string;
}

function alarms(template: Template): Record<string, Record<string, any>> {
  return Object.fromEntries(
    Object.values(resources(template, "AWS::CloudWatch::Alarm")).map(({ Properties: alarm }) => [alarm.AlarmName.replace(/^threads-(prod|dev)-/, ""), alarm]),
  );
}

/** The metrics that an alarm reads. */
function metricsOf(alarm: Record<string, any>): Record<string, any>[] {
  return alarm.Metrics === undefined ? [alarm] : alarm.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) => MetricStat?.Metric ?? []);
}

test("the alerts are those of deploy/observe", () => {
  assert.equal(deployedRules(prod), rules);
  assert.ok(namesIn(rules).length > 15);
});

test("each alert has a program that measures it", () => {
  assert.deepEqual(allAlerts.map(({ name }) => name), namesIn(rules));
  const measured = [...metrics["write-api"]!, ...metrics["read-api"]!, ...metrics["read-model-updater"]!];
  for (const alert of allAlerts) {
    assert.ok(alert.metrics.length > 0, alert.name);
    assert.deepEqual(alert.metrics.filter((name) => !measured.includes(name)), [], alert.name);
  }
});

test("an alarm replaces each alert that no metric feeds", () => {
  const measured = [...metrics["write-api"]!, ...metrics["read-api"]!];
  let replaced = 0;
  for (const alert of allAlerts) {
    const fed = alert.metrics.every((name) => measured.includes(name));
    const alarm = alarms(lambda)[alert.name];
    assert.equal(namesIn(deployedRules(lambda)).includes(alert.name), fed, `${alert.name}: it is deployed only where programs measure it`);
    assert.notEqual(fed, alarm !== undefined, `${alert.name}: metrics, or an alarm`);
    replaced += alarm === undefined ? 0 : 1;
    // What an alarm reads from a function's log, the function writes.
    for (const { Namespace, MetricName, Dimensions } of alarm === undefined ? [] : metricsOf(alarm)) {
      if (Namespace === "lambda-updater") {
        const program = /LambdaPublisher/.test(JSON.stringify(Dimensions)) ? "lambda-publisher" : "lambda-updater";
        assert.ok(metrics[program]!.includes(MetricName), `${alert.name}: ${program} does not write ${MetricName}`);
        assert.deepEqual([alarm!.Threshold, alarm!.ComparisonOperator], [0, "GreaterThanThreshold"], alert.name);
      }
    }
  }
  assert.ok(replaced > 8);
  const [, seconds] = /alert: ReadModelBehind\n +expr: max\(projection_lag_seconds\) > (\d+)\n +for: 2m/.exec(rules)!;
  const { Threshold, EvaluationPeriods, MetricName, Period } = alarms(lambda).ReadModelBehind!;
  assert.deepEqual([Threshold, EvaluationPeriods, MetricName, Period], [Number(seconds) * 1000, 2, "IteratorAge", 60]);
  const [, behind] = /max\(publisher_lag_seconds\) > (\d+)/.exec(rules)!;
  assert.equal(alarms(lambda).PublishingBehind!.Threshold, Number(behind) * 1000);
  const hours = alarms(lambda).RowsToMakeAnew!.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Period: number } }) => MetricStat?.Period ?? []);
  assert.deepEqual(hours, [3600, 3600]);
  assert.equal(alarms(lambda).NobodyProjects!.TreatMissingData, "breaching");
});

test("with Lambda, a job that compares the rows must end well within a day", () => {
  const { jobs } = templatesOf(contexts["prod with Lambda and provisioned tables"]!);
  const [[id, { Properties: task }]] = Object.entries(resources(jobs, "AWS::ECS::TaskDefinition")).filter(([id]) => id.startsWith("verify")) as [[string, CloudResource]];
  assert.deepEqual(task.ContainerDefinitions[0].Command, ["/threadctl", "rows", "verify"]);
  jobs.hasResourceProperties("AWS::Events::Rule", {
    ScheduleExpression: "rate(12 hours)", Targets: [Match.objectLike({ EcsParameters: Match.objectLike({ LaunchType: "FARGATE", TaskDefinitionArn: { Ref: id } }) })],
  });
  const [filter] = Object.values(resources(jobs, "AWS::Logs::MetricFilter"));
  const { FilterPattern, MetricTransformations } = filter!.Properties;
  assert.deepEqual([FilterPattern, MetricTransformations[0].MetricName], ['"ok: true"', "RowsAgree"]); // as threadctl prints
  const { MetricName, Threshold, ComparisonOperator, TreatMissingData, Period } = alarms(lambda).RowsDiffer!;
  assert.deepEqual([MetricName, Threshold, ComparisonOperator, TreatMissingData, Period], ["RowsAgree", 1, "LessThanThreshold", "breaching", 24 * 3600]);
  assert.equal(alarms(prod).RowsDiffer, undefined);
});

test("nothing is said of publishing where nobody publishes", () => {
  const { programs } = templatesOf(contexts["dev with Lambda"]!);
  assert.doesNotMatch(deployedRules(programs), /Publishing/);
  assert.deepEqual(Object.keys(alarms(programs)).filter((name) => /Publish/.test(name)), []);
  assert.match(deployedRules(programs), /rules:\n {6}- alert/);
  assert.doesNotMatch(deployedRules(programs), /rules:\n(?! {6}- alert)/);
});

test("a queue that is not empty is an alarm", () => {
  for (const name of ["UpdaterRepairFails", "PublisherRepairFails"]) {
    const found = metricsOf(alarms(lambda)[name]!).map(({ MetricName, Dimensions }) => [MetricName, /Lambda(Updater|Publisher)GivenUp/.exec(JSON.stringify(Dimensions))![1]]);
    const of = name.replace("RepairFails", "");
    assert.deepEqual(found, [["ApproximateNumberOfMessagesVisible", of], ["ApproximateNumberOfMessagesNotVisible", of]]);
  }
});

test("failing requests alarm at the share that the alerts name", () => {
  const [, share] = /alert: RequestsFail\n(?:.*\n)*? +.*> ([\d.]+)\n/.exec(rules)!;
  for (const program of ["write-api", "read-api"]) {
    assert.equal(alarms(prod)[`${program}-RequestsFail`]!.Threshold, 100 * Number(share));
  }
});

test("every service that is down, and every table that refuses calls, is an alarm", () => {
  for (const program of ["write-api", "read-api", "read-model-updater"]) {
    const { ComparisonOperator, TreatMissingData } = alarms(prod)[`${program}-Down`]!;
    assert.deepEqual([ComparisonOperator, TreatMissingData], ["LessThanThreshold", "breaching"]);
  }
  for (const setting of ["JOURNAL_TABLE", "SNAPSHOT_TABLE", "KEY_TABLE"]) {
    assert.ok(alarms(prod)[`${setting}-ReadThrottled`] && alarms(prod)[`${setting}-WriteThrottled`], setting);
  }
  for (const setting of ["JOURNAL_TABLE", "SNAPSHOT_TABLE"]) { // an index that is full holds up writes
    const { Metrics } = alarms(prod)[`${setting}-Index-WriteThrottled`]!;
    assert.deepEqual(Metrics[0].MetricStat.Metric.Dimensions.map(({ Name }: { Name: string }) => Name).sort(), ["GlobalSecondaryIndexName", "TableName"]);
  }
});

test("a stream that Lambda no longer reads is an alarm", () => {
  for (const name of ["UpdaterReadsNothing", "PublisherReadsNothing"]) {
    const { Threshold } = alarms(lambda)[name]!;
    const names = metricsOf(alarms(lambda)[name]!).map(({ MetricName }) => MetricName);
    assert.deepEqual([names.sort(), Threshold], [["ConsumedWriteCapacityUnits", "PolledEventCount"], 0]);
  }
});

test("each alarm names a section of docs/operations.md, and goes to the operators", () => {
  const sections = [...operations.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll("'", "").replaceAll(" ", "-"));
  for (const [name, { AlarmDescription, AlarmActions, OKActions }] of Object.entries({ ...alarms(prod), ...alarms(lambda) })) {
    const [, section] = /docs\/operations\.md#([\w-]+)$/.exec(AlarmDescription) ?? [];
    assert.ok(sections.includes(section!), `${name}: ${AlarmDescription}`);
    assert.equal(AlarmActions.length, 1, name);
    assert.deepEqual(OKActions, AlarmActions, name);
  }
  prod.hasResourceProperties("AWS::SNS::Subscription", { Protocol: "email", Endpoint: "operators@example.com" });
  prod.hasResourceProperties("AWS::APS::Workspace", { AlertManagerDefinition: Match.anyValue() });
});

test("a collector beside each service knows its job's name, as Prometheus does", () => {
  const jobs = [...readFileSync(join(root, "deploy/observe/prometheus.yml"), "utf8").matchAll(/job_name: ([\w-]+)/g)].map(([, job]) => job);
  const tasks = Object.values(resources(prod, "AWS::ECS::TaskDefinition"));
  const configured = tasks.map(({ Properties: task }) => {
    const [program, beside] = task.ContainerDefinitions;
    assert.deepEqual([program.Name, beside.Name], ["program", "collector"]);
    assert.deepEqual([program.Essential, beside.Essential, beside.RestartPolicy.Enabled], [true, false, true]);
    const config = JSON.stringify(beside.Environment.find(({ Name }: { Name: string }) => Name === "AOT_CONFIG_CONTENT").Value);
    const address = program.Environment.find(({ Name }: { Name: string }) => Name === "METRICS_ADDR").Value;
    assert.ok(config.includes(address));
    return /job_name[\\":]+([\w-]+)/.exec(config)![1];
  });
  assert.deepEqual(configured.sort(), jobs.sort());
  assert.match(JSON.stringify(collector("write-api", "eu-central-1", { arn: "", url: "https://x/" })), /"endpoint":"https:\/\/x\/api\/v1\/remote_write"/);
});

test("a budget warns before the month is over", () => {
  prod.hasResourceProperties("AWS::Budgets::Budget", {
    Budget: { BudgetLimit: { Amount: 1500, Unit: "USD" }, TimeUnit: "MONTHLY" },
    NotificationsWithSubscribers: [
      Match.objectLike({ Notification: Match.objectLike({ NotificationType: "ACTUAL", Threshold: 80 }) }),
      Match.objectLike({ Notification: Match.objectLike({ NotificationType: "FORECASTED", Threshold: 100 }) }),
    ],
  });
});
