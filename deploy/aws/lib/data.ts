import { Aws, CfnOutput, Duration, Fn, RemovalPolicy, SecretValue, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table, TableEncryption, type Attribute } from "aws-cdk-lib/aws-dynamodb";
import { FlowLogDestination, FlowLogTrafficType, GatewayVpcEndpointAwsService, IpAddresses, Port, SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { Repository, TagMutability } from "aws-cdk-lib/aws-ecr";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import {
  AuroraMysqlEngineVersion, ClusterInstance, Credentials, DatabaseCluster, DatabaseClusterEngine, type DatabaseProxy,
} from "aws-cdk-lib/aws-rds";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { type TableDefinition, tableDefinitions, type TableSetting } from "./definitions.js";
import type { Stage } from "./stage.js";

const mysqlPort = 3306;

/** The addresses of the network. */
export const networkRange = "10.0.0.0/16";

/** What must outlive the programs: network, tables, read model, keys, and the repository of images. */
export class Data extends Stack {
  readonly key: Key;
  /** Wraps the keys of people, whose texts are sealed with them. */
  readonly masterKey?: Key;
  readonly vpc: Vpc;
  readonly tables = new Map<TableSetting, Table>();
  readonly indexes = new Map<TableSetting, string>();
  readonly cluster: DatabaseCluster;
  /** Of everything that connects to the database. */
  readonly databaseClients: SecurityGroup;
  /** DATABASE_URL of the writer, without a proxy: the updaters' lock belongs to a connection. */
  readonly writerUrl: Secret;
  /** DATABASE_URL of the read-api: the writer, behind the proxy. */
  readonly readerUrl: Secret;
  /** Its READ_DATABASE_URL, if there is a reader: one instance, because a name of several breaks the promise of tokens. */
  readonly replicaUrl?: Secret;
  readonly repository: Repository;

  constructor(scope: Construct, id: string, readonly stage: Stage, props: StackProps) {
    super(scope, id, { ...props, terminationProtection: stage.keepData });
    const removalPolicy = this.removal();
    this.key = new Key(this, "Key", { enableKeyRotation: true, removalPolicy, description: `${id}: tables, database, secrets and logs` });
    this.key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(`logs.${stage.region}.amazonaws.com`)],
        actions: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
        resources: ["*"],
        conditions: { ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:${Aws.PARTITION}:logs:${stage.region}:${Aws.ACCOUNT_ID}:*` } },
      }),
    );
    this.vpc = this.network();
    for (const setting of Object.keys(tableDefinitions) as TableSetting[]) {
      if (setting !== "KEY_TABLE" || stage.erasure) {
        this.tables.set(setting, this.table(setting, tableDefinitions[setting]));
      }
    }
    if (stage.erasure) {
      this.masterKey = new Key(this, "MasterKey", { enableKeyRotation: true, removalPolicy, description: `${id}: wraps people's keys` });
    }

    this.databaseClients = new SecurityGroup(this, "DatabaseClients", { vpc: this.vpc, description: "Connects to the read model" });
    this.cluster = this.readModel();
    const proxy = this.proxy();
    // The proxy's certificate is Amazon's public one. The cluster's is of an authority that no system knows: see docs/aws.md.
    this.writerUrl = this.databaseUrl("WriterUrl", this.cluster.clusterEndpoint.hostname, "skip-verify");
    this.readerUrl = this.databaseUrl("ReaderUrl", proxy.endpoint, "true");
    const [, reader] = this.cluster.instanceEndpoints; // the first is the writer's
    this.replicaUrl = reader && this.databaseUrl("ReplicaUrl", reader.hostname, "skip-verify");

    this.repository = new Repository(this, "Images", {
      imageTagMutability: TagMutability.IMMUTABLE,
      imageScanOnPush: true,
      removalPolicy,
      emptyOnDelete: false,
      lifecycleRules: [{ maxImageCount: 50 }],
    });
    new CfnOutput(this, "Repository", { value: this.repository.repositoryUri });
  }

  private removal(): RemovalPolicy {
    return this.stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  }

  private network(): Vpc {
    const vpc = new Vpc(this, "Network", {
      ipAddresses: IpAddresses.cidr(networkRange),
      maxAzs: 2,
      natGateways: this.stage.natGateways,
      subnetConfiguration: [
        { name: "public", subnetType: SubnetType.PUBLIC },
        { name: "programs", subnetType: SubnetType.PRIVATE_WITH_EGRESS },
        { name: "data", subnetType: SubnetType.PRIVATE_ISOLATED },
      ],
      // Without these, each call of DynamoDB and each layer of an image is paid for as traffic of the NAT gateway.
      gatewayEndpoints: { DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB }, S3: { service: GatewayVpcEndpointAwsService.S3 } },
    });
    vpc.addFlowLog("Rejected", { destination: FlowLogDestination.toCloudWatchLogs(this.logGroup("Flows")), trafficType: FlowLogTrafficType.REJECT });
    return vpc;
  }

  private logGroup(id: string): LogGroup {
    return new LogGroup(this, id, { retention: this.stage.logDays as RetentionDays, encryptionKey: this.key, removalPolicy: RemovalPolicy.DESTROY });
  }

  private table(setting: TableSetting, definition: TableDefinition): Table {
    const attribute = (keyType: "HASH" | "RANGE", keys = definition.KeySchema): Attribute | undefined => {
      const name = keys.find((key) => key.KeyType === keyType)?.AttributeName;
      const found = definition.AttributeDefinitions.find((attribute) => attribute.AttributeName === name);
      return found && { name: found.AttributeName, type: AttributeType[{ S: "STRING", N: "NUMBER", B: "BINARY" }[found.AttributeType] as keyof typeof AttributeType] };
    };
    const capacity = this.stage.capacity;
    const onDemand = capacity === "on-demand";
    const units = onDemand ? {} : { readCapacity: capacity.read, writeCapacity: capacity.write };
    const table = new Table(this, setting.split("_").map((word) => word[0] + word.slice(1).toLowerCase()).join(""), {
      partitionKey: attribute("HASH")!,
      sortKey: attribute("RANGE"),
      billingMode: onDemand ? BillingMode.PAY_PER_REQUEST : BillingMode.PROVISIONED,
      ...units,
      stream: definition.StreamSpecification && StreamViewType.NEW_IMAGE,
      timeToLiveAttribute: definition.TimeToLiveSpecification?.AttributeName,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: this.stage.keepData,
      removalPolicy: this.removal(),
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
    });
    for (const index of definition.GlobalSecondaryIndexes ?? []) {
      this.indexes.set(setting, index.IndexName);
      table.addGlobalSecondaryIndex({
        indexName: index.IndexName,
        partitionKey: attribute("HASH", index.KeySchema)!,
        sortKey: attribute("RANGE", index.KeySchema),
        projectionType: ProjectionType[index.Projection.ProjectionType],
        nonKeyAttributes: index.Projection.NonKeyAttributes,
        ...units,
      });
    }
    if (!onDemand) {
      const limits = (minCapacity: number) => ({ minCapacity, maxCapacity: capacity.max });
      const grow = { targetUtilizationPercent: 60 };
      table.autoScaleReadCapacity(limits(capacity.read)).scaleOnUtilization(grow);
      table.autoScaleWriteCapacity(limits(capacity.write)).scaleOnUtilization(grow);
      for (const index of definition.GlobalSecondaryIndexes ?? []) {
        table.autoScaleGlobalSecondaryIndexReadCapacity(index.IndexName, limits(capacity.read)).scaleOnUtilization(grow);
        table.autoScaleGlobalSecondaryIndexWriteCapacity(index.IndexName, limits(capacity.write)).scaleOnUtilization(grow);
      }
    }
    new CfnOutput(this, `${table.node.id}Name`, { value: table.tableName });
    return table;
  }

  private readModel(): DatabaseCluster {
    const { minUnits, maxUnits, readers, backupDays } = this.stage.database;
    const cluster = new DatabaseCluster(this, "ReadModel", {
      engine: DatabaseClusterEngine.auroraMysql({ version: AuroraMysqlEngineVersion.VER_3_10_4 }),
      vpc: this.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      defaultDatabaseName: "threads",
      // Letters and digits only, because it is part of a DSN.
      credentials: Credentials.fromGeneratedSecret("threads", { encryptionKey: this.key, excludeCharacters: " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" }),
      serverlessV2MinCapacity: minUnits,
      serverlessV2MaxCapacity: maxUnits,
      writer: ClusterInstance.serverlessV2("Writer"),
      readers: Array.from({ length: readers }, (_, n) => ClusterInstance.serverlessV2(`Reader${n + 1}`, { scaleWithWriter: true })),
      storageEncryptionKey: this.key,
      backup: { retention: Duration.days(backupDays) },
      deletionProtection: this.stage.keepData,
      removalPolicy: this.stage.keepData ? RemovalPolicy.SNAPSHOT : RemovalPolicy.DESTROY,
      cloudwatchLogsExports: ["error"],
    });
    cluster.connections.allowFrom(this.databaseClients, Port.tcp(mysqlPort), "programs");
    Validations.of(cluster).acknowledge(
      { id: "AwsSolutions-RDS6", reason: "The programs log in with a password. Tokens of IAM live for 15 minutes, and a DSN can't renew them." },
      { id: "AwsSolutions-RDS11", reason: "The port of a database that only a security group reaches is no secret." },
      { id: "AwsSolutions-RDS14", reason: "The read model is rebuilt from the journal, so it needs no way back." },
      { id: "AwsSolutions-SMG4", reason: "The programs read the password when they start: docs/aws.md says how a new one reaches them." },
    );
    if (!this.stage.keepData) {
      Validations.of(cluster).acknowledge({ id: "AwsSolutions-RDS10", reason: "This stage is deleted with its data." });
    }
    return cluster;
  }

  private proxy(): DatabaseProxy {
    const security = new SecurityGroup(this, "ProxySecurity", { vpc: this.vpc, description: "The proxy before the read model" });
    const proxy = this.cluster.addProxy("Proxy", {
      vpc: this.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      secrets: [this.cluster.secret!],
      securityGroups: [security],
      requireTLS: true,
      maxConnectionsPercent: 80, // the rest is for updaters and operators
    });
    proxy.connections.allowFrom(this.databaseClients, Port.tcp(mysqlPort), "programs");
    return proxy;
  }

  private databaseUrl(id: string, host: string, tls: string): Secret {
    const password = this.cluster.secret!.secretValueFromJson("password").unsafeUnwrap(); // a reference, which CloudFormation resolves
    const url = Fn.join("", ["threads:", password, "@tcp(", host, `:${mysqlPort})/threads?tls=${tls}`]);
    const secret = new Secret(this, id, { encryptionKey: this.key, secretStringValue: SecretValue.unsafePlainText(url), removalPolicy: RemovalPolicy.DESTROY });
    Validations.of(secret).acknowledge({ id: "AwsSolutions-SMG4", reason: "It follows from the database's password." });
    return secret;
  }
}

