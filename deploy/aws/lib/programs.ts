import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { Peer, SecurityGroup, SubnetType } from "aws-cdk-lib/aws-ec2";
import { FargateService } from "aws-cdk-lib/aws-ecs";
import {
  ApplicationListener, ApplicationLoadBalancer, ApplicationProtocol, ApplicationTargetGroup, ListenerAction, ListenerCertificate, ListenerCondition, SslPolicy,
} from "aws-cdk-lib/aws-elasticloadbalancingv2";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { type Data, networkRange } from "./data.js";
import type { Jobs } from "./jobs.js";
import { LambdaUpdater } from "./lambda-updater.js";
import { Program } from "./program.js";
import { settingsOf } from "./settings.js";
import { Watch } from "./watch.js";

/** write-api and read-api behind a load balancer, the updater, and what watches them. */
export class Programs extends Stack {
  constructor(scope: Construct, id: string, data: Data, jobs: Jobs, props: StackProps) {
    super(scope, id, props);
    const { stage } = data;
    const watch = new Watch(this, "Watch", data);
    const services = new Map<string, FargateService>();
    // The load balancer is let in by the programs' own groups. This one is not changed from here.
    const clients = SecurityGroup.fromSecurityGroupId(this, "DatabaseClients", data.databaseClients.securityGroupId, { mutable: false });
    const start = (program: string, port: number, tasks?: number, secrets: Record<string, ISecret> = { DATABASE_URL: data.writerUrl }) => {
      const connects = program !== "write-api";
      const made = new Program(this, program, {
        data,
        port,
        cpu: stage.keepData ? 1024 : 256,
        memory: stage.keepData ? 2048 : 512,
        environment: settingsOf(program, data),
        secrets: connects ? secrets : undefined,
        metricsTo: watch.metrics,
      });
      const own = new SecurityGroup(made, "Security", { vpc: data.vpc, description: program });
      const service = new FargateService(made, "Service", {
        cluster: jobs.cluster,
        taskDefinition: made.task,
        desiredCount: tasks, // undefined: as many as there are, which a release must not change
        minHealthyPercent: 100,
        securityGroups: connects ? [own, clients] : [own],
        vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
        circuitBreaker: { rollback: true },
        healthCheckGracePeriod: program === "read-model-updater" ? undefined : Duration.minutes(2),
      });
      services.set(program, service);
      return service;
    };

    const write = start("write-api", 28080);
    const read = start("read-api", 28082, undefined, {
      DATABASE_URL: data.readerUrl, ...(data.replicaUrl && { READ_DATABASE_URL: data.replicaUrl }),
    });
    for (const api of [write, read]) {
      const scaling = api.autoScaleTaskCount({ minCapacity: stage.tasks.min, maxCapacity: stage.tasks.max });
      scaling.scaleOnCpuUtilization("Processor", { targetUtilizationPercent: 60, scaleInCooldown: Duration.minutes(5) });
    }
    let lambda: LambdaUpdater | undefined;
    let publisher: LambdaUpdater | undefined;
    if (stage.updater === "lambda") {
      lambda = new LambdaUpdater(this, "LambdaUpdater", data, "lambda-updater");
      publisher = (stage.publishUrl ?? stage.publishSecret) === undefined ? undefined : new LambdaUpdater(this, "LambdaPublisher", data, "lambda-publisher");
    }
    const updater = lambda ?? start("read-model-updater", 28081, stage.keepData ? 2 : 1, { // one works, the others stand by
      DATABASE_URL: data.writerUrl,
      ...(stage.publishSecret !== undefined && { PUBLISH_URL: Secret.fromSecretCompleteArn(this, "PublishUrl", stage.publishSecret) }),
    });
    // A release replaces them in this order: docs/operations.md, "Upgrading".
    read.node.addDependency(updater);
    write.node.addDependency(read);

    const balancer = this.balancer(data);
    const listener = this.listener(balancer, data);
    const targets = (name: string, service: FargateService, port: number) =>
      new ApplicationTargetGroup(this, name, {
        vpc: data.vpc,
        port,
        protocol: ApplicationProtocol.HTTP,
        targets: [service],
        // ECS replaces tasks that are not ready for five minutes: before, a database may be failing over.
        healthCheck: { path: "/health/ready", interval: Duration.seconds(30), healthyThresholdCount: 2, unhealthyThresholdCount: 10 },
        deregistrationDelay: Duration.seconds(30),
      });
    const writeTargets = targets("WriteTargets", write, 28080);
    const readTargets = targets("ReadTargets", read, 28082);
    listener.addAction("Commands", { action: ListenerAction.forward([writeTargets]) });
    listener.addAction("Queries", {
      priority: 10,
      conditions: [ListenerCondition.pathPatterns(["/graphql", "/graphql/*"])],
      action: ListenerAction.forward([readTargets]),
    });
    const byName = new Map([["write-api", writeTargets], ["read-api", readTargets]]);
    watch.over({ data, balancer, targets: byName, services, lambda, publisher, verified: jobs.verified });
    new CfnOutput(this, "Address", { value: balancer.loadBalancerDnsName });
  }

  private balancer(data: Data): ApplicationLoadBalancer {
    const { stage } = data;
    const open = stage.issuer !== undefined;
    const balancer = new ApplicationLoadBalancer(this, "Balancer", {
      vpc: data.vpc,
      internetFacing: open,
      vpcSubnets: { subnetType: open ? SubnetType.PUBLIC : SubnetType.PRIVATE_WITH_EGRESS },
      dropInvalidHeaderFields: true,
      deletionProtection: stage.keepData,
      idleTimeout: Duration.seconds(60), // less than the programs' own; subscriptions send something every 15 s
    });
    const logs = new Bucket(this, "BalancerLogs", {
      encryption: BucketEncryption.S3_MANAGED, // load balancers can't write with another key
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      lifecycleRules: [{ expiration: Duration.days(stage.logDays) }],
      removalPolicy: stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(logs).acknowledge({ id: "AwsSolutions-S1", reason: "It is the bucket of access logs; its own would have no end." });
    balancer.logAccessLogs(logs);
    return balancer;
  }

  private listener(balancer: ApplicationLoadBalancer, { stage }: Data): ApplicationListener {
    const open = stage.issuer !== undefined;
    if (open) {
      Validations.of(balancer).acknowledge({ id: "AwsSolutions-EC23", reason: "The APIs are for everyone who has an access token." });
      balancer.addListener("Plain", {
        port: 80,
        defaultAction: ListenerAction.redirect({ protocol: "HTTPS", port: "443", permanent: true }),
      });
    }
    if (stage.certificate === undefined) {
      const listener = balancer.addListener("Listener", { port: 80, protocol: ApplicationProtocol.HTTP, open: false });
      listener.connections.allowDefaultPortFrom(Peer.ipv4(networkRange), "from inside the network");
      return listener;
    }
    return balancer.addListener("Listener", {
      port: 443, certificates: [ListenerCertificate.fromArn(stage.certificate)], sslPolicy: SslPolicy.RECOMMENDED_TLS,
    });
  }
}
