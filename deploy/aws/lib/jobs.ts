import { CfnOutput, Duration, Fn, Stack, type StackProps, Validations } from "aws-cdk-lib";
import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";
import { SubnetType } from "aws-cdk-lib/aws-ec2";
import { type CfnCluster, Cluster, ContainerInsights } from "aws-cdk-lib/aws-ecs";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { EcsTask } from "aws-cdk-lib/aws-events-targets";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { Data } from "./data.js";
import { Program } from "./program.js";
import { settingsOf } from "./settings.js";

/** The cluster, and tasks that operators start by hand: the schema is migrated before the programs are replaced. */
export class Jobs extends Stack {
  readonly cluster: Cluster;
  /** How often all rows were compared with the journal, and are what it says; unless an updater compares them itself. */
  readonly verified?: IMetric;

  constructor(scope: Construct, id: string, data: Data, props: StackProps) {
    super(scope, id, props);
    this.cluster = new Cluster(this, "Cluster", { vpc: data.vpc, containerInsightsV2: ContainerInsights.ENABLED });
    const size = { data, cpu: 512, memory: 1024, secrets: { DATABASE_URL: data.writerUrl } };
    const migrate = new Program(this, "migrate", { ...size, command: ["/migrate", "up"] });
    const operating = { ...size, environment: settingsOf("threadctl", data) };
    const jobs = [migrate, new Program(this, "threadctl", { ...operating, command: ["/threadctl", "--help"] })];
    if (data.stage.updater === "lambda") {
      const verify = new Program(this, "verify", { ...operating, command: ["/threadctl", "rows", "verify"] });
      jobs.push(verify);
      this.verified = this.verifiedBy(verify, data);
    }

    const subnets = data.vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS }).subnetIds;
    new CfnOutput(this, "ClusterName", { value: this.cluster.clusterName });
    new CfnOutput(this, "Network", {
      value: Fn.join("", ["awsvpcConfiguration={subnets=[", Fn.join(",", subnets), "],securityGroups=[", data.databaseClients.securityGroupId, "]}"]),
    });
    for (const program of jobs) {
      new CfnOutput(this, `${program.program}Task`, { value: program.task.taskDefinitionArn });
      new CfnOutput(this, `${program.program}Log`, { value: program.log.logGroupName });
    }
  }

  /** Starts a job twice a day, and counts how often it ends well. */
  private verifiedBy(verify: Program, data: Data): IMetric {
    const starter = new Role(verify, "Starter", { assumedBy: new ServicePrincipal("events.amazonaws.com") });
    const cluster = this.getLogicalId(this.cluster.node.defaultChild as CfnCluster);
    Validations.of(starter).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:${data.stage.region}:*:task/<${cluster}>/*]`,
      reason: "A task has no name before it is started.",
    });
    new Rule(this, "TwiceADay", {
      schedule: Schedule.rate(Duration.hours(12)),
      targets: [
        new EcsTask({
          cluster: this.cluster,
          taskDefinition: verify.task,
          role: starter,
          subnetSelection: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
          securityGroups: [data.databaseClients],
        }),
      ],
    });
    const filter = new MetricFilter(this, "RowsAgree", {
      logGroup: verify.log, filterPattern: FilterPattern.literal('"ok: true"'), metricNamespace: this.stackName, metricName: "RowsAgree",
    });
    return filter.metric({ statistic: "Sum", period: Duration.days(1) });
  }
}
