import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { ContainerImage, CpuArchitecture, FargateTaskDefinition, LogDrivers, Secret as EnvironmentSecret } from "aws-cdk-lib/aws-ecs";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { collector, collectorImage, metricsAddress, remoteWrite, type MetricsTarget } from "./collector.js";
import type { Data } from "./data.js";
import { actions } from "./definitions.js";
import { allow } from "./permissions.js";

/** What the collector of metrics gets of a task's memory, in MiB. */
const collectorMemory = 128;

export interface ProgramProps {
  readonly data: Data;
  readonly cpu: number;
  readonly memory: number;
  readonly command?: string[];
  /** The port that the program serves its health on; jobs have none. */
  readonly port?: number;
  /** The settings whose values are secrets. */
  readonly secrets?: Record<string, ISecret>;
  readonly environment?: Record<string, string>;
  /** Where its metrics go; without it they stay on the loopback address. */
  readonly metricsTo?: MetricsTarget;
}

/** A program of the image: its task, with a role and a log of its own. */
export class Program extends Construct {
  readonly task: FargateTaskDefinition;
  readonly role: Role;
  readonly log: LogGroup;

  constructor(scope: Construct, readonly program: string, props: ProgramProps) {
    super(scope, program);
    const { data } = props;
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
    if (program in actions) {
      allow(this.role, program, data);
    }
    const starting = new Role(this, "StartingRole", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
    Validations.of(starting).acknowledge({ id: "AwsSolutions-IAM5[Resource::*]", reason: "ECR's GetAuthorizationToken names no resource." });
    this.task = new FargateTaskDefinition(this, "Task", {
      cpu: props.cpu,
      memoryLimitMiB: props.memory,
      taskRole: this.role,
      executionRole: starting,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64 },
    });
    Validations.of(this.task).acknowledge({ id: "AwsSolutions-ECS2", reason: "The variables are settings; what is secret comes from Secrets Manager." });
    this.log = new LogGroup(this, "Log", {
      retention: data.stage.logDays as RetentionDays, encryptionKey: data.key, removalPolicy: RemovalPolicy.DESTROY,
    });
    const logs = LogDrivers.awsLogs({ streamPrefix: program, logGroup: this.log });
    const container = this.task.addContainer("program", {
      // It sizes its heap and caches by this limit; without one, it would see the whole machine under the task.
      memoryLimitMiB: props.memory - (props.metricsTo ? collectorMemory : 0),
      image: ContainerImage.fromEcrRepository(data.repository, data.stage.tag),
      command: props.command ?? [`/${program}`],
      readonlyRootFilesystem: true,
      logging: logs,
      environment: props.environment,
      secrets: props.secrets && this.granted(props.secrets, data),
      stopTimeout: Duration.seconds(60),
      healthCheck: props.port === undefined ? undefined : {
        command: ["CMD", "/healthcheck", `http://127.0.0.1:${props.port}/health/alive`],
        interval: Duration.seconds(10),
        startPeriod: Duration.seconds(60),
      },
    });
    if (props.port !== undefined) {
      container.addPortMappings({ containerPort: props.port });
    }
    if (props.metricsTo !== undefined) {
      container.addEnvironment("METRICS_ADDR", metricsAddress);
      this.task.addContainer("collector", {
        image: ContainerImage.fromRegistry(collectorImage),
        environment: { AOT_CONFIG_CONTENT: Stack.of(this).toJsonString(collector(program, data.stage.region, props.metricsTo)) },
        memoryReservationMiB: 64,
        essential: false, // its end must not end the program
        enableRestartPolicy: true,
        logging: logs,
      });
      this.role.addToPolicy(remoteWrite(props.metricsTo));
    }
  }

  /** The secrets by their ARNs: what allows their use is then this role's policy, and not that of the key in the other stack. */
  private granted(secrets: Record<string, ISecret>, data: Data): Record<string, EnvironmentSecret> {
    const encryptionKey = Key.fromKeyArn(this, "DataKey", data.key.keyArn);
    return Object.fromEntries(
      Object.entries(secrets).map(([setting, { secretArn }]) => {
        const id = setting.split("_").map((word) => word[0] + word.slice(1).toLowerCase()).join("");
        return [setting, EnvironmentSecret.fromSecretsManager(Secret.fromSecretAttributes(this, id, { secretCompleteArn: secretArn, encryptionKey }))];
      }),
    );
  }
}
