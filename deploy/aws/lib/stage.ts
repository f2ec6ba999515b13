import type { Node } from "constructs";

/** What differs between stages. Sizes are a start; docs/aws.md says what to watch. */
export interface Stage {
  readonly name: string;
  readonly region: string;
  /** Tag of the image in the repository that the data stack creates. */
  readonly tag: string;
  /** Deletion protection, and data that outlives its stack. */
  readonly keepData: boolean;
  /** On demand, or provisioned units of the tables, which grow to the maximum. */
  readonly capacity: "on-demand" | { readonly read: number; readonly write: number; readonly max: number };
  /** SHARD_COUNT, if it is not the default. */
  readonly shards?: string;
  readonly natGateways: number;
  readonly database: {
    readonly minUnits: number; readonly maxUnits: number; readonly readers: number; readonly backupDays: number;
    /** The most environments of each function on Lambda. Each has up to 4 of the connections that the units allow. */
    readonly environments: number;
  };
  /** Least and greatest number of tasks of each API. */
  readonly tasks: { readonly min: number; readonly max: number };
  readonly updater: "service" | "lambda";
  /** The zip of cmd/lambda-updater, with updater "lambda". */
  readonly lambdaZip: string;
  /** Where events are published, as PUBLISH_URL says it. Without it, none are. */
  readonly publishUrl?: string;
  /** ARN of the secret that has the same with a password. */
  readonly publishSecret?: string;
  /** Who issues access tokens. Without an issuer, every caller is trusted, and the load balancer has no public address. */
  readonly issuer?: string;
  readonly audience: string;
  /** ARN of the load balancer's certificate. */
  readonly certificate?: string;
  /** Texts are sealed, so that a person can be forgotten. It can't be turned off again. */
  readonly erasure: boolean;
  /** Alarms and warnings of the budget go there. */
  readonly email: string;
  readonly dollarsAMonth: number;
  readonly logDays: number;
}

const stages: Record<string, Omit<Stage, "name" | "region" | "tag" | "shards" | "issuer" | "audience" | "certificate" | "email" | "lambdaZip" | "publishUrl" | "publishSecret" | "updater">> = {
  dev: {
    keepData: false,
    capacity: "on-demand",
    natGateways: 1,
    database: { minUnits: 0.5, maxUnits: 2, readers: 0, backupDays: 1, environments: 4 },
    tasks: { min: 1, max: 2 },
    erasure: false,
    dollarsAMonth: 200,
    logDays: 14,
  },
  prod: {
    keepData: true,
    capacity: "on-demand",
    natGateways: 2,
    database: { minUnits: 1, maxUnits: 16, readers: 1, backupDays: 14, environments: 50 },
    tasks: { min: 2, max: 10 },
    erasure: true,
    dollarsAMonth: 1500,
    logDays: 90,
  },
};

/** Reads a stage from the context of `cdk -c name=value`. */
export function readStage(node: Node): Stage {
  const context = (name: string, otherwise?: string): string => {
    const value = node.tryGetContext(name) ?? otherwise;
    if (typeof value !== "string") {
      throw new Error(`-c ${name}=... is missing; docs/aws.md lists the settings`);
    }
    return value;
  };
  const name = context("stage");
  const sizes = stages[name];
  if (sizes === undefined) {
    throw new Error(`-c stage=${name}: there are ${Object.keys(stages).join(" and ")}`);
  }
  const updater = context("updater", "service");
  if (updater !== "service" && updater !== "lambda") {
    throw new Error(`-c updater=${updater}: it is service or lambda`);
  }
  const stage: Stage = {
    ...sizes,
    name,
    region: context("region"),
    tag: context("tag"),
    shards: node.tryGetContext("shards"),
    issuer: node.tryGetContext("issuer"),
    audience: context("audience", "threads"),
    certificate: node.tryGetContext("certificate"),
    email: context("email"),
    updater,
    lambdaZip: updater === "lambda" ? context("lambdaZip") : "",
    publishUrl: node.tryGetContext("publishUrl"),
    publishSecret: node.tryGetContext("publishSecret"),
    capacity: readCapacity(context("capacity", "on-demand")),
  };
  if (/\/\/[^/]*@|\?/.test(stage.publishUrl ?? "")) {
    throw new Error("the task and the template would show the password in publishUrl: store the URL in Secrets Manager, and set -c publishSecret=<ARN>");
  }
  if (stage.publishUrl !== undefined && stage.publishSecret !== undefined) {
    throw new Error("-c publishUrl=... and -c publishSecret=... say the same: set one of them");
  }
  if (stage.keepData && (stage.issuer === undefined || stage.certificate === undefined)) {
    throw new Error(`stage ${name} is reached from the internet: it needs -c issuer=... and -c certificate=...`);
  }
  if (stage.issuer !== undefined && stage.certificate === undefined) {
    throw new Error("access tokens are not sent without TLS: -c issuer=... needs -c certificate=...");
  }
  return stage;
}

/** Reads "on-demand", or "read,write,max". */
function readCapacity(text: string): Stage["capacity"] {
  if (text === "on-demand") {
    return text;
  }
  const [read, write, max] = text.split(",").map(Number);
  if (!read || !write || !max || max < Math.max(read, write)) {
    throw new Error(`-c capacity=${text}: it is on-demand, or units such as 50,100,1000 (read, write, the most of each)`);
  }
  return { read, write, max };
}
