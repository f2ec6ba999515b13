import assert from "node:assert/strict";
import { test } from "node:test";
import { tableDefinitions } from "../lib/definitions.js";
import { contexts, resources, templatesOf } from "./stacks.js";

const prod = templatesOf(contexts.prod!);
const dev = templatesOf(contexts.dev!);

/** Entries by the value of a field: AWS does not care for their order. */
const by = (field: string, list: Record<string, unknown>[] = []) => Object.fromEntries(list.map((entry) => [entry[field] as string, entry]));

test("the tables are those of dynamodb-setup", () => {
  const tables = Object.values(resources(prod.data, "AWS::DynamoDB::Table"));
  assert.equal(tables.length, Object.keys(tableDefinitions).length);
  for (const [setting, definition] of Object.entries(tableDefinitions)) {
    const found = tables.filter(
      ({ Properties: made }) =>
        JSON.stringify([made.KeySchema, made.StreamSpecification, made.TimeToLiveSpecification]) ===
          JSON.stringify([definition.KeySchema, definition.StreamSpecification, definition.TimeToLiveSpecification]) &&
        made.GlobalSecondaryIndexes?.[0]?.IndexName === definition.GlobalSecondaryIndexes?.[0]?.IndexName,
    );
    assert.equal(found.length, 1, setting);
    const { AttributeDefinitions, GlobalSecondaryIndexes } = found[0]!.Properties;
    assert.deepEqual(by("AttributeName", AttributeDefinitions), by("AttributeName", definition.AttributeDefinitions as never), setting);
    assert.deepEqual(by("IndexName", GlobalSecondaryIndexes), by("IndexName", definition.GlobalSecondaryIndexes as never), setting);
  }
});

test("the tables of prod are protected", () => {
  for (const [name, { Properties: made, DeletionPolicy }] of Object.entries(resources(prod.data, "AWS::DynamoDB::Table"))) {
    assert.equal(DeletionPolicy, "Retain", name);
    assert.equal(made.DeletionProtectionEnabled, true, name);
    assert.deepEqual(made.PointInTimeRecoverySpecification, { PointInTimeRecoveryEnabled: true }, name);
    assert.equal(made.SSESpecification.SSEType, "KMS", name);
    assert.equal(made.BillingMode, "PAY_PER_REQUEST", name);
  }
});

test("dev can be deleted with its data", () => {
  for (const [name, { Properties: made, DeletionPolicy }] of Object.entries(resources(dev.data, "AWS::DynamoDB::Table"))) {
    assert.equal(DeletionPolicy, "Delete", name);
    assert.equal(made.DeletionProtectionEnabled, false, name);
    assert.deepEqual(made.PointInTimeRecoverySpecification, { PointInTimeRecoveryEnabled: true }, name);
  }
  dev.data.resourceCountIs("AWS::DynamoDB::Table", 2); // without erasure there are no keys of people
  dev.data.hasResourceProperties("AWS::RDS::DBCluster", { DeletionProtection: false });
});

test("provisioned tables grow, and their indexes with them", () => {
  const { data } = templatesOf(contexts["prod with Lambda and provisioned tables"]!);
  const tables = resources(data, "AWS::DynamoDB::Table");
  let parts = 0;
  for (const [name, { Properties: made }] of Object.entries(tables)) {
    assert.equal(made.BillingMode, undefined, name); // provisioned is what CloudFormation takes it for
    for (const part of [made, ...(made.GlobalSecondaryIndexes ?? [])]) {
      assert.deepEqual(part.ProvisionedThroughput, { ReadCapacityUnits: 50, WriteCapacityUnits: 100 }, name);
      parts++;
    }
  }
  data.resourceCountIs("AWS::ApplicationAutoScaling::ScalableTarget", 2 * parts);
  data.allResourcesProperties("AWS::ApplicationAutoScaling::ScalableTarget", { MaxCapacity: 1000 });
});

test("the read model is encrypted, kept, and reached by the programs alone", () => {
  prod.data.hasResourceProperties("AWS::RDS::DBCluster", {
    Engine: "aurora-mysql", StorageEncrypted: true, DeletionProtection: true, BackupRetentionPeriod: 14, DatabaseName: "threads",
  });
  prod.data.resourceCountIs("AWS::RDS::DBInstance", 2); // a writer and a reader
  prod.data.hasResourceProperties("AWS::RDS::DBProxy", { RequireTLS: true });
  for (const [name, { Properties: rule }] of Object.entries(resources(prod.data, "AWS::EC2::SecurityGroupIngress"))) {
    assert.ok(rule.SourceSecurityGroupId && !rule.CidrIp, name);
  }
  prod.data.allResourcesProperties("AWS::RDS::DBInstance", { PubliclyAccessible: false });
});

test("DATABASE_URL is the writer, behind the proxy for queries, which read one reader", () => {
  const urls = Object.entries(resources(prod.data, "AWS::SecretsManager::Secret")).filter(([, { Properties: secret }]) => secret.SecretString);
  const text = Object.fromEntries(urls.map(([name, { Properties: secret }]) => [/^[A-Z][a-z]+Url/.exec(name)![0], JSON.stringify(secret.SecretString)]));
  assert.match(text.WriterUrl!, /ReadModel.*"Endpoint\.Address".*tls=skip-verify/);
  assert.match(text.ReaderUrl!, /Proxy\w+","Endpoint".*tls=true/);
  assert.match(text.ReplicaUrl!, /ReadModelReader1\w+","Endpoint\.Address".*tls=skip-verify/);
  dev.data.resourceCountIs("AWS::RDS::DBInstance", 1);
  assert.deepEqual(Object.keys(resources(dev.data, "AWS::SecretsManager::Secret")).filter((name) => /^Replica/.test(name)), []);
  for (const url of Object.values(text)) {
    assert.match(url, /threads:\{\{resolve:secretsmanager:.*:SecretString:password::\}\}/);
  }
});
