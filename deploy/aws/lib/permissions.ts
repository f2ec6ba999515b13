import { Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { Data } from "./data.js";
import { actions, type Resource, type TableSetting } from "./definitions.js";

const read = ["kms:Decrypt", "kms:DescribeKey"];
const write = ["kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"];
const writing = /:(Put|Update|Delete)Item$/;

/** What Lambda's event source mapping does with the permissions of its function. */
const mappingActions = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"];

/** The actions of a program, by resource. Lambda reads the stream for a function. */
export function actionsOf(program: string): Map<Resource, string[]> {
  const used = actions[program];
  if (used === undefined) {
    throw new Error(`deploy/aws/actions.json has no actions of ${program}`);
  }
  const found = new Map(Object.entries(used) as [Resource, string[]][]);
  if (program.startsWith("lambda-")) {
    found.set("JOURNAL_TABLE/stream", mappingActions);
  }
  return found;
}

/** Allows a program the actions that it uses, on the resources that it uses them on. */
export function allow(role: Role, program: string, data: Data): void {
  let writes = false;
  for (const [resource, used] of actionsOf(program)) {
    const arn = arnOf(resource, data);
    if (arn !== undefined) {
      role.addToPolicy(new PolicyStatement({ actions: used, resources: [arn] }));
      writes ||= used.some((action) => writing.test(action));
    }
  }
  // DynamoDB uses the tables' key in the name of its caller.
  role.addToPolicy(
    new PolicyStatement({
      actions: writes ? [...read, ...write] : read,
      resources: [data.key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `dynamodb.${Stack.of(data).region}.amazonaws.com` } },
    }),
  );
}

/** The ARN of a resource; undefined if the stage does without it. */
function arnOf(resource: Resource, data: Data): string | undefined {
  if (resource === "ERASURE_KMS_KEY") {
    return data.masterKey?.keyArn;
  }
  const [setting, part] = resource.split("/") as [TableSetting, string | undefined];
  const table = data.tables.get(setting);
  switch (part) {
    case undefined:
      return table?.tableArn;
    case "stream":
      return table?.tableStreamArn;
    default:
      return table && `${table.tableArn}/index/${data.indexes.get(setting)}`;
  }
}
