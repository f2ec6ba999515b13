import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { SubnetType } from "aws-cdk-lib/aws-ec2";
import { Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, EventSourceMapping, FilterCriteria, FilterRule, Function, MetricType, Runtime, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { SqsDlq, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Validations } from "aws-cdk-lib";
import { Construct } from "constructs";
import type { Data } from "./data.js";
import { allow } from "./permissions.js";
import { settingsOf } from "./settings.js";

/** cmd/lambda-updater, which Lambda calls with the records of the journal's stream. It projects, or publishes. */
export class LambdaUpdater extends Construct {
  readonly function: Function;
  readonly mapping: EventSourceMapping;
  /** Where Lambda says which records it has given up. Each message makes the function read the journal. */
  readonly givenUp: Queue;

  constructor(scope: Construct, id: string, data: Data, as: "lambda-updater" | "lambda-publisher") {
    super(scope, id);
    const { stage } = data;
    // Another environment could still open the texts of a person who was erased.
    const alone = as === "lambda-publisher" && data.masterKey !== undefined;
    const timeout = Duration.minutes(1);
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    allow(role, as, data);
    const log = new LogGroup(this, "Log", {
      retention: stage.logDays as RetentionDays, encryptionKey: data.key, removalPolicy: RemovalPolicy.DESTROY,
    });
    log.grantWrite(role);
    // Of a function within a network.
    role.addToPolicy(
      new PolicyStatement({
        actions: ["ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DeleteNetworkInterface", "ec2:DescribeSubnets"],
        resources: ["*"],
      }),
    );
    Validations.of(role).acknowledge({ id: "AwsSolutions-IAM5[Resource::*]", reason: "The network interfaces of a function have no names before they exist." });
    this.function = new Function(this, "Function", {
      runtime: Runtime.PROVIDED_AL2023,
      architecture: Architecture.ARM_64,
      handler: "bootstrap",
      code: Code.fromAsset(stage.lambdaZip),
      role,
      memorySize: 512,
      timeout,
      reservedConcurrentExecutions: alone ? 1 : stage.database.environments,
      // The schedule calls again: a repair that takes longer than a minute must not pile up.
      retryAttempts: 0,
      maxEventAge: timeout,
      vpc: data.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      securityGroups: [data.databaseClients],
      logGroup: log,
      environmentEncryption: data.key,
      // Functions have no secrets of their own: CloudFormation puts the value in when it deploys.
      environment: {
        ...settingsOf(as, data),
        DATABASE_URL: data.writerUrl.secretValue.unsafeUnwrap(),
        ...(as === "lambda-publisher" && stage.publishSecret !== undefined && {
          PUBLISH_URL: Secret.fromSecretCompleteArn(this, "PublishUrl", stage.publishSecret).secretValue.unsafeUnwrap(),
        }),
      },
    });
    this.givenUp = new Queue(this, "GivenUp", {
      encryption: QueueEncryption.SQS_MANAGED, // a message has numbers of records, and nothing of them
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()), // as AWS advises
    });
    Validations.of(this.givenUp).acknowledge({ id: "AwsSolutions-SQS3", reason: "A message stays until a repair has succeeded, and an alarm tells of it." });
    this.function.addEventSource(new SqsEventSource(this.givenUp, { maxConcurrency: 2 }));
    // A batch that is not done is delivered again until it is: an event that can't be handled parks its aggregate, so
    // only a failure of a database or a broker makes Lambda wait. Records are never given up before the stream forgets
    // them.
    this.mapping = new EventSourceMapping(this, "Mapping", {
      target: this.function,
      eventSourceArn: data.tables.get("JOURNAL_TABLE")!.tableStreamArn!,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 1000,
      parallelizationFactor: alone ? 1 : 4,
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      onFailure: new SqsDlq(this.givenUp),
      filters: [FilterCriteria.filter({ eventName: FilterRule.isEqual("INSERT") })],
    });
    // Retries parked aggregates, and sends what processes have to send.
    new Rule(this, "EveryMinute", {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.function, { event: RuleTargetInput.fromObject({ Records: [] }) })],
    });
  }
}
