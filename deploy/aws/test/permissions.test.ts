import assert from "node:assert/strict";
import { test } from "node:test";
import type { Template } from "aws-cdk-lib/assertions";
import { actionsOf } from "../lib/permissions.js";
import { contexts, resources, templatesOf } from "./stacks.js";

const prod = templatesOf(contexts.prod!);
const lambda = templatesOf(contexts["prod with Lambda and provisioned tables"]!);

interface Statement {
  readonly Action: string | string[];
  readonly Effect: string;
  readonly Resource: unknown;
  readonly Condition?: Record<string, unknown>;
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** The statements of all policies of a role, whose logical id begins so. */
function statementsOf(template: Template, role: string): Statement[] {
  const names = Object.keys(resources(template, "AWS::IAM::Role")).filter((id) => new RegExp(`^${role}[0-9A-F]{8}$`).test(id));
  assert.equal(names.length, 1, role);
  assert.equal(resources(template, "AWS::IAM::Role")[names[0]!]!.Properties.ManagedPolicyArns, undefined, "a managed policy allows more");
  return Object.values(resources(template, "AWS::IAM::Policy"))
    .filter(({ Properties: policy }) => policy.Roles.some((ref: { Ref: string }) => ref.Ref === names[0]))
    .flatMap(({ Properties: policy }) => policy.PolicyDocument.Statement as Statement[]);
}

/** What a resource in a policy is in the words of actions.json. */
function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  const [, words] = /(JournalTable|SnapshotTable|KeyTable|MasterKey|Metrics|DataKey|Key|GivenUp)[0-9A-F]{8}/.exec(text) ?? [];
  const name = { JournalTable: "JOURNAL_TABLE", SnapshotTable: "SNAPSHOT_TABLE", KeyTable: "KEY_TABLE", MasterKey: "ERASURE_KMS_KEY" }[words ?? ""] ?? words ?? text;
  if (/\/index\/(journal|snapshot)-aid-index/.test(text)) {
    return `${name}/index`;
  }
  return text.includes("StreamArn") ? `${name}/stream` : name;
}

/** The pairs of action and resource that statements allow. */
function pairsOf(statements: Statement[]): string[] {
  return statements.flatMap(({ Action, Resource, Effect }) => {
    assert.equal(Effect, "Allow");
    return list(Resource).flatMap((resource) => list(Action).map((action) => `${action} on ${nameOf(resource)}`));
  }).sort();
}

const tableKey = ["kms:Decrypt", "kms:DescribeKey"];
const writes = ["kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"];
/** On its own queue of records that were given up. */
const queue = ["ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "GetQueueUrl", "ReceiveMessage", "SendMessage"].map((action) => `sqs:${action} on GivenUp`);
const beside: Record<string, string[]> = {
  "write-api": [...tableKey, ...writes].map((action) => `${action} on Key`).concat("aps:RemoteWrite on Metrics"),
  "read-api": tableKey.map((action) => `${action} on Key`).concat("aps:RemoteWrite on Metrics"),
  "read-model-updater": [...tableKey, ...writes].map((action) => `${action} on Key`).concat("aps:RemoteWrite on Metrics"),
  threadctl: [...tableKey, ...writes].map((action) => `${action} on Key`),
  verify: tableKey.map((action) => `${action} on Key`),
  "lambda-updater": [...tableKey, ...writes].map((action) => `${action} on Key`).concat(queue),
  "lambda-publisher": tableKey.map((action) => `${action} on Key`).concat(queue),
};
const roles: Record<string, [Template, string]> = {
  "write-api": [prod.programs, "writeapiRole"],
  "read-api": [prod.programs, "readapiRole"],
  "read-model-updater": [prod.programs, "readmodelupdaterRole"],
  threadctl: [prod.jobs, "threadctlRole"],
  verify: [lambda.jobs, "verifyRole"],
  "lambda-updater": [lambda.programs, "LambdaUpdaterRole"],
  "lambda-publisher": [lambda.programs, "LambdaPublisherRole"],
};

for (const [program, [template, role]] of Object.entries(roles)) {
  test(`${program} may do what it does, and nothing else`, () => {
    let statements = statementsOf(template, role);
    if (program.startsWith("lambda-")) {
      // Of every function within a network, which writes a log.
      const own = (action: string) => action.startsWith("ec2:") || action.startsWith("logs:");
      statements = statements.filter(({ Action }) => !list(Action).every(own));
    }
    const want = [...actionsOf(program)].flatMap(([resource, used]) => used.map((action) => `${action} on ${resource}`));
    assert.deepEqual(pairsOf(statements), [...want, ...beside[program]!].sort());
    for (const { Action, Condition } of statements) {
      if (list(Action).includes("kms:DescribeKey")) {
        assert.deepEqual(Condition, { StringEquals: { "kms:ViaService": "dynamodb.eu-central-1.amazonaws.com" } });
      }
    }
  });
}

test("the migration needs no AWS service", () => {
  assert.equal(Object.values(resources(prod.jobs, "AWS::IAM::Role")).length, 4);
  assert.deepEqual(statementsOf(prod.jobs, "migrateRole"), []);
});

test("a stage without erasure has no permissions for it", () => {
  const dev = templatesOf(contexts.dev!);
  for (const role of ["writeapiRole", "readapiRole", "readmodelupdaterRole"]) {
    const pairs = pairsOf(statementsOf(dev.programs, role));
    assert.ok(pairs.length > 5, role);
    assert.deepEqual(pairs.filter((pair) => /KEY_TABLE|ERASURE/.test(pair)), [], role);
  }
});
