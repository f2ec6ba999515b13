import { Aws, Duration, Stack } from "aws-cdk-lib";
import { CfnRuleGroupsNamespace, CfnWorkspace } from "aws-cdk-lib/aws-aps";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Alarm, ComparisonOperator, Dashboard, GraphWidget, type IMetric, MathExpression, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import { type ApplicationLoadBalancer, type ApplicationTargetGroup, HttpCodeElb, HttpCodeTarget } from "aws-cdk-lib/aws-elasticloadbalancingv2";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import type { MetricsTarget } from "./collector.js";
import type { Data } from "./data.js";
import { alerts } from "./definitions.js";

export interface Watched {
  readonly data: Data;
  readonly balancer: ApplicationLoadBalancer;
  readonly targets: Map<string, ApplicationTargetGroup>;
  readonly services: Map<string, FargateService>;
  readonly lambda?: Function;
  readonly publisher?: Function;
}

/** What no metric of a function on Lambda tells: CloudWatch's metrics of the function tell it. */
export const replacedOnLambda = ["NobodyProjects", "ReadModelBehind"];

/** The alerts of deploy/observe, without some. */
export function alertsWithout(names: string[]): string {
  return names.reduce((text, name) => text.replace(new RegExp(`^ {6}- alert: ${name}\\n(?: {8}.*\\n)*`, "m"), ""), alerts);
}

/**
 * The alerts of deploy/observe run as they are, on Amazon Managed Service for Prometheus. What the programs can't tell
 * themselves - AWS's services, and tasks that do not start - are alarms of CloudWatch. Both go to one topic.
 */
export class Watch extends Construct {
  readonly metrics: MetricsTarget;
  readonly topic: Topic;

  constructor(scope: Construct, id: string, private readonly data: Data) {
    super(scope, id);
    const { stage } = data;
    const key = new Key(this, "Key", { enableKeyRotation: true, description: `Alarms of ${Stack.of(this).stackName}` });
    this.topic = new Topic(this, "Alarms", { masterKey: key, enforceSSL: true });
    this.topic.addSubscription(new EmailSubscription(stage.email));
    for (const service of ["aps", "cloudwatch"]) {
      const principal = new ServicePrincipal(`${service}.amazonaws.com`, { conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } } });
      this.topic.grantPublish(principal);
      key.grantEncryptDecrypt(principal);
    }
    const workspace = new CfnWorkspace(this, "Metrics", {
      alias: Stack.of(this).stackName,
      alertManagerDefinition: [
        "alertmanager_config: |",
        "  route:",
        "    receiver: operators",
        "    group_by: [alertname]",
        "  receivers:",
        "    - name: operators",
        "      sns_configs:",
        `        - topic_arn: ${this.topic.topicArn}`,
        "          send_resolved: true",
        `          sigv4: {region: ${stage.region}}`,
        "",
      ].join("\n"),
    });
    workspace.node.addDependency(this.topic);
    new CfnRuleGroupsNamespace(this, "Alerts", {
      name: "threads",
      workspace: workspace.attrArn,
      data: alertsWithout(stage.updater === "lambda" ? replacedOnLambda : []),
    });
    this.metrics = { arn: workspace.attrArn, url: workspace.attrPrometheusEndpoint };
    this.budget();
  }

  private budget(): void {
    const { stage } = this.data;
    const subscribers = [{ subscriptionType: "EMAIL", address: stage.email }];
    const warning = (notificationType: string, threshold: number): CfnBudget.NotificationWithSubscribersProperty => ({
      notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold, thresholdType: "PERCENTAGE" }, subscribers,
    });
    new CfnBudget(this, "Budget", {
      budget: {
        budgetName: Stack.of(this).stackName,
        budgetType: "COST",
        timeUnit: "MONTHLY",
        budgetLimit: { amount: stage.dollarsAMonth, unit: "USD" },
      },
      notificationsWithSubscribers: [warning("ACTUAL", 80), warning("FORECASTED", 100)],
    });
  }

  /** Sets alarms on the parts, and shows them on a dashboard. */
  over({ data, balancer, targets, services, lambda, publisher }: Watched): void {
    const failed = balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { statistic: "Sum" });
    this.alarm("BalancerFails", failed, 10, 5, "the load balancer answers in the place of a program", "programs");
    for (const [program, target] of targets) {
      const requests = target.metrics.requestCount({ statistic: "Sum" });
      const errors = target.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { statistic: "Sum" });
      const share = new MathExpression({ expression: "IF(all > 0, 100 * failed / all, 0)", usingMetrics: { all: requests, failed: errors }, label: program, period: Duration.minutes(5) });
      this.alarm(`${program}-RequestsFail`, share, 1, 1, `more than 1% of the requests to ${program} fail`, "programs");
      this.alarm(`${program}-Unhealthy`, target.metrics.unhealthyHostCount({ statistic: "Maximum" }), 0, 5, `a task of ${program} is not ready`, "programs");
    }
    for (const [program, service] of services) {
      const running = new Metric({
        namespace: "ECS/ContainerInsights", metricName: "RunningTaskCount", statistic: "Minimum", period: Duration.minutes(1),
        dimensionsMap: { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName },
      });
      this.alarm(`${program}-Down`, running, 1, 3, `no task of ${program} runs`, "programs", ComparisonOperator.LESS_THAN_THRESHOLD);
    }
    const throttles: IMetric[] = [];
    for (const [setting, table] of data.tables) {
      for (const kind of ["Read", "Write"]) {
        const metric = table.metric(`${kind}ThrottleEvents`, { statistic: "Sum", period: Duration.minutes(1), label: `${setting} ${kind}` });
        throttles.push(metric);
        this.alarm(`${setting}-${kind}Throttled`, metric, 10, 5, `DynamoDB refuses some calls on ${setting}: a partition or the limit is full`, "commands");
      }
    }
    const database = { statistic: "Average", period: Duration.minutes(1) };
    const processor = data.cluster.metricCPUUtilization(database);
    const units = data.cluster.metricACUUtilization(database);
    this.alarm("DatabaseBusy", units, 90, 10, "the read model's database has reached its largest size", "the-read-model-is-behind");
    const invoked = lambda?.metricInvocations({ statistic: "Sum", period: Duration.minutes(5) });
    const age = lambda?.metric("IteratorAge", { statistic: "Maximum", period: Duration.minutes(1) });
    if (lambda !== undefined && invoked !== undefined && age !== undefined) {
      this.alarm("NobodyProjects", invoked, 1, 1, "the updater is not called, not even by its schedule", "several-updaters", ComparisonOperator.LESS_THAN_THRESHOLD);
      this.alarm("ReadModelBehind", age, 30_000, 2, "the read model is more than 30 seconds behind", "the-read-model-is-behind");
      this.alarm("UpdaterFails", lambda.metricErrors({ statistic: "Sum" }), 0, 3, "the updater's invocations fail", "the-read-model-is-behind");
    }
    if (publisher !== undefined) {
      this.alarm("PublisherFails", publisher.metricErrors({ statistic: "Sum" }), 0, 3, "the publisher's invocations fail", "events-are-not-published");
    }

    const row = (title: string, ...left: IMetric[]) => new GraphWidget({ title, left, width: 8 });
    const dashboard = new Dashboard(this, "Dashboard", { dashboardName: Stack.of(this).stackName });
    dashboard.addWidgets(
      row("Requests", ...[...targets.values()].map((target) => target.metrics.requestCount())),
      row("Slowest 1 %, seconds", ...[...targets.values()].map((target) => target.metrics.targetResponseTime({ statistic: "p99" }))),
      row("Server errors", failed, ...[...targets.values()].map((target) => target.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT))),
      row("Consumed write units", ...[...data.tables.values()].map((table) => table.metricConsumedWriteCapacityUnits())),
      row("Consumed read units", ...[...data.tables.values()].map((table) => table.metricConsumedReadCapacityUnits())),
      row("Throttled", ...throttles),
      row("Database: processor, capacity %", processor, units),
      row("Database: connections", data.cluster.metricDatabaseConnections()),
      row("Processor of the programs, %", ...[...services.values()].map((service) => service.metricCpuUtilization())),
      ...(age === undefined || invoked === undefined ? [] : [row("Updater: age of the last record, ms", age), row("Updater: invocations", invoked)]),
    );
  }

  /** An alarm, with the section of docs/operations.md that says what to do. Without data an absence is an alarm. */
  private alarm(
    name: string, metric: IMetric, threshold: number, minutes: number, what: string, section: string, operator = ComparisonOperator.GREATER_THAN_THRESHOLD,
  ): void {
    const alarm = new Alarm(this, name, {
      metric,
      threshold,
      evaluationPeriods: minutes,
      comparisonOperator: operator,
      treatMissingData: operator === ComparisonOperator.LESS_THAN_THRESHOLD ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${what}; docs/operations.md#${section}`,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
  }
}
