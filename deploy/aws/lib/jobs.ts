import { CfnOutput, Fn, Stack, type StackProps } from "aws-cdk-lib";
import { SubnetType } from "aws-cdk-lib/aws-ec2";
import { Cluster, ContainerInsights } from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";
import type { Data } from "./data.js";
import { Program } from "./program.js";
import { settingsOf } from "./settings.js";

/** The cluster, and tasks that operators start by hand: the schema is migrated before the programs are replaced. */
export class Jobs extends Stack {
  readonly cluster: Cluster;

  constructor(scope: Construct, id: string, data: Data, props: StackProps) {
    super(scope, id, props);
    this.cluster = new Cluster(this, "Cluster", { vpc: data.vpc, containerInsightsV2: ContainerInsights.ENABLED });
    const size = { data, cpu: 512, memory: 1024, secrets: { DATABASE_URL: data.writerUrl } };
    const migrate = new Program(this, "migrate", { ...size, command: ["/migrate", "up"] });
    const threadctl = new Program(this, "threadctl", { ...size, command: ["/threadctl", "--help"], environment: settingsOf("threadctl", data) });

    const subnets = data.vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS }).subnetIds;
    new CfnOutput(this, "ClusterName", { value: this.cluster.clusterName });
    new CfnOutput(this, "Network", {
      value: Fn.join("", ["awsvpcConfiguration={subnets=[", Fn.join(",", subnets), "],securityGroups=[", data.databaseClients.securityGroupId, "]}"]),
    });
    for (const program of [migrate, threadctl]) {
      new CfnOutput(this, `${program.program}Task`, { value: program.task.taskDefinitionArn });
      new CfnOutput(this, `${program.program}Log`, { value: program.log.logGroupName });
    }
  }
}
