import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { collector } from "../lib/collector.js";
import { replacedOnLambda } from "../lib/watch.js";
import { contexts, resources, root, templatesOf } from "./stacks.js";

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
    Object.values(resources(template, "AWS::CloudWatch::Alarm")).map(({ Properties: alarm }) => [alarm.AlarmName.replace(/^threads-prod-/, ""), alarm]),
  );
}

test("the alerts are those of deploy/observe", () => {
  assert.equal(deployedRules(prod), rules);
  assert.ok(namesIn(rules).length > 15);
});

test("with Lambda, an alarm replaces each alert that no metric feeds", () => {
  const left = namesIn(rules).filter((name) => !replacedOnLambda.includes(name));
  assert.deepEqual(namesIn(deployedRules(lambda)), left);
  assert.equal(left.length, namesIn(rules).length - replacedOnLambda.length);
  for (const name of replacedOnLambda) {
    assert.ok(alarms(lambda)[name], name);
  }
  const [, seconds] = /alert: ReadModelBehind\n +expr: max\(projection_lag_seconds\) > (\d+)\n +for: 2m/.exec(rules)!;
  const { Threshold, EvaluationPeriods, MetricName, Period } = alarms(lambda).ReadModelBehind!;
  assert.deepEqual([Threshold, EvaluationPeriods, MetricName, Period], [Number(seconds) * 1000, 2, "IteratorAge", 60]);
  assert.equal(alarms(lambda).NobodyProjects!.TreatMissingData, "breaching");
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
