import { Aws, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnRuleGroupsNamespace, CfnWorkspace } from "aws-cdk-lib/aws-aps";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Alarm, ComparisonOperator, Dashboard, GraphWidget, type IMetric, MathExpression, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import { type ApplicationLoadBalancer, type ApplicationTargetGroup, HttpCodeElb, HttpCodeTarget } from "aws-cdk-lib/aws-elasticloadbalancingv2";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import type { MetricsTarget } from "./collector.js";
import type { Data } from "./data.js";
import { alertsWithout, figuresFor, ofTheUpdater } from "./alerts.js";
import type { LambdaUpdater } from "./lambda-updater.js";

export interface Watched {
  readonly data: Data;
  readonly balancer: ApplicationLoadBalancer;
  readonly targets: Map<string, ApplicationTargetGroup>;
  readonly services: Map<string, FargateService>;
  readonly lambda?: LambdaUpdater;
  readonly publisher?: LambdaUpdater;
  /** See Jobs. */
  readonly verified?: IMetric;
}

const minute = Duration.minutes(1);

/**
 * The alerts of deploy/observe run as they are, on Amazon Managed Service for Prometheus. What the programs can't tell
 * themselves - AWS's services, tasks that do not start, and a function on Lambda, which nobody can scrape - are alarms of
 * CloudWatch. Both go to one topic.
 */
export class Watch extends Construct {
  readonly metrics: MetricsTarget;
  readonly topic: Topic;

  constructor(scope: Construct, id: string, private readonly data: Data) {
    super(scope, id);
    const { stage } = data;
    const key = new Key(this, "Key", { enableKeyRotation: true, removalPolicy: RemovalPolicy.DESTROY, description: `Alarms of ${Stack.of(this).stackName}` });
    this.topic = new Topic(this, "Alarms", { masterKey: key, enforceSSL: true });
    this.topic.addSubscription(new EmailSubscription(stage.email));
    for (const service of ["aps", "cloudwatch"]) {
      const principal = new ServicePrincipal(`${service}.amazonaws.com`, { conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } } });
      this.topic.addToResourcePolicy(
        new PolicyStatement({ principals: [principal], actions: ["sns:Publish", "sns:GetTopicAttributes"], resources: [this.topic.topicArn] }),
      );
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
      data: alertsWithout(stage.updater === "lambda" ? ofTheUpdater.map(({ name }) => name) : []),
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
  over({ data, balancer, targets, services, lambda, publisher, verified }: Watched): void {
    const failed = balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { statistic: "Sum", period: minute });
    this.alarm("BalancerFails", failed, 10, 5, "the load balancer answers in the place of a program", "programs");
    for (const [program, target] of targets) {
      const requests = target.metrics.requestCount({ statistic: "Sum" });
      const errors = target.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { statistic: "Sum" });
      const share = new MathExpression({ expression: "IF(all > 0, 100 * failed / all, 0)", usingMetrics: { all: requests, failed: errors }, label: program, period: Duration.minutes(5) });
      this.alarm(`${program}-RequestsFail`, share, 1, 1, `more than 1% of the requests to ${program} fail`, "programs");
      this.alarm(`${program}-Unhealthy`, target.metrics.unhealthyHostCount({ statistic: "Maximum", period: minute }), 0, 5, `a task of ${program} is not ready`, "programs");
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
      const index = data.indexes.get(setting); // which has a capacity of its own, and holds up writes
      for (const kind of ["Read", "Write"]) {
        for (const [of, dimensions] of [["", {}], ...(index === undefined ? [] : [["-Index", { GlobalSecondaryIndexName: index }] as const])] as const) {
          const metric = new Metric({
            namespace: "AWS/DynamoDB", metricName: `${kind}ThrottleEvents`, statistic: "Sum", period: minute, label: `${setting}${of} ${kind}`,
            dimensionsMap: { TableName: table.tableName, ...dimensions },
          });
          throttles.push(metric);
          this.alarm(`${setting}${of}-${kind}Throttled`, metric, 10, 5, `DynamoDB refuses some calls on ${setting}${of}: a partition or the limit is full`, "commands");
        }
      }
    }
    const database = { statistic: "Average", period: Duration.minutes(1) };
    const processor = data.cluster.metricCPUUtilization(database);
    const units = data.cluster.metricACUUtilization(database);
    this.alarm("DatabaseBusy", units, 90, 10, "the read model's database has reached its largest size", "the-read-model-is-behind");
    if (verified !== undefined) {
      this.alarm("RowsDiffer", verified, 1, 1, "rows differ from the journal, or have not been compared for a day", "rows-are-wrong", ComparisonOperator.LESS_THAN_THRESHOLD);
    }
    const functions = lambda === undefined ? [] : this.functions(lambda, publisher);

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
      ...functions.map(([title, metric]) => row(title, metric)),
    );
  }

  /** Sets the alarms that replace the alerts on the updater's metrics, and returns what the dashboard shows. */
  private functions(updater: LambdaUpdater, publisher?: LambdaUpdater): [string, IMetric][] {
    const ageOf = ({ function: of }: LambdaUpdater) => of.metric("IteratorAge", { statistic: "Maximum", period: minute });
    const figure = ({ function: of }: LambdaUpdater, metricName: string) =>
      new Metric({ namespace: "lambda-updater", metricName, dimensionsMap: { FunctionName: of.functionName }, statistic: "Maximum", period: minute });
    const invoked = updater.function.metricInvocations({ statistic: "Sum", period: Duration.minutes(5) });
    const behind = "the-read-model-is-behind";
    this.alarm("NobodyProjects", invoked, 1, 1, "the updater is not called, not even by its schedule", behind, ComparisonOperator.LESS_THAN_THRESHOLD);
    this.alarm("ReadModelBehind", ageOf(updater), 30_000, 2, "the read model is more than 30 seconds behind", behind);
    const sent = updater.givenUp.metricNumberOfMessagesSent({ statistic: "Sum", period: Duration.hours(1) });
    this.alarm("StreamForgot", sent, 0, 1, "Lambda has given up records of the stream; the function reads them from the journal", behind);
    // Only the invocation that compares rows says that they are ahead: the alarm stays for an hour.
    const anew = new MathExpression({
      expression: "ahead + outdated", period: Duration.hours(1),
      usingMetrics: { ahead: figure(updater, "projection_aggregates_ahead"), outdated: figure(updater, "projection_rows_outdated") },
    });
    this.alarm("RowsToMakeAnew", anew, 0, 1, "the rows are ahead of the journal, or of another version of the program", "rows-must-be-rebuilt");
    this.alarm("RebuildStandsStill", figure(updater, "projection_rebuild_interrupted"), 0, 15, "a rebuild is unfinished, and nobody goes on with it", "rows-must-be-rebuilt");
    if (publisher !== undefined) {
      this.alarm("PublishingBehind", ageOf(publisher), 300_000, 5, "events are not published, or too slowly", "events-are-not-published");
    }
    for (const alert of ofTheUpdater) {
      const program = figuresFor(alert);
      const of = program === "lambda-publisher" ? publisher : updater;
      if (program !== undefined && of !== undefined) {
        this.alarm(alert.name, figure(of, alert.metrics[0]!), 0, alert.minutes, alert.expression, alert.section);
      }
    }
    for (const [name, of, section] of [["Updater", updater, behind], ["Publisher", publisher, "events-are-not-published"]] as const) {
      if (of !== undefined) {
        // A mapping that was switched off, or lost a permission, calls nobody, and so has no age.
        const unread = new MathExpression({
          expression: "IF(FILL(written, 0) > 0 AND FILL(polled, 0) < 1, 1, 0)", period: Duration.minutes(5),
          usingMetrics: {
            written: this.data.tables.get("JOURNAL_TABLE")!.metricConsumedWriteCapacityUnits({ statistic: "Sum" }),
            polled: new Metric({
              namespace: "AWS/Lambda", metricName: "PolledEventCount", statistic: "Sum", dimensionsMap: { EventSourceMappingUUID: of.mapping.eventSourceMappingId },
            }),
          },
        });
        this.alarm(`${name}ReadsNothing`, unread, 0, 3, `events are written, and Lambda does not read the stream for the ${name.toLowerCase()}`, section);
        this.alarm(`${name}Fails`, of.function.metricErrors({ statistic: "Sum" }), 0, 3, `the ${name.toLowerCase()}'s invocations fail`, section);
        const left = new MathExpression({
          expression: "waiting + tried", period: minute,
          usingMetrics: {
            waiting: of.givenUp.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum" }),
            tried: of.givenUp.metricApproximateNumberOfMessagesNotVisible({ statistic: "Maximum" }),
          },
        });
        this.alarm(`${name}RepairFails`, left, 0, 15, `records were given up, and the ${name.toLowerCase()} has not made up for them from the journal`, section);
      }
    }
    return [["Updater: age of the last record, ms", ageOf(updater)], ["Updater: invocations", invoked]];
  }

  /** An alarm, with the section of docs/operations.md that says what to do. Without data an absence is an alarm. */
  private alarm(
    name: string, metric: IMetric, threshold: number, periods: number, what: string, section: string, operator = ComparisonOperator.GREATER_THAN_THRESHOLD,
  ): void {
    const alarm = new Alarm(this, name, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: operator,
      treatMissingData: operator === ComparisonOperator.LESS_THAN_THRESHOLD ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${what}; docs/operations.md#${section}`,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
  }
}
