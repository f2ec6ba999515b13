import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

function read<T>(path: string): T {
  return JSON.parse(readFileSync(`${root}${path}`, "utf8")) as T;
}

interface Key {
  readonly AttributeName: string;
  readonly KeyType: "HASH" | "RANGE";
}

export interface TableDefinition {
  readonly KeySchema: Key[];
  readonly AttributeDefinitions: { readonly AttributeName: string; readonly AttributeType: "S" | "N" | "B" }[];
  readonly GlobalSecondaryIndexes?: {
    readonly IndexName: string;
    readonly KeySchema: Key[];
    readonly Projection: { readonly ProjectionType: "ALL" | "INCLUDE"; readonly NonKeyAttributes?: string[] };
  }[];
  readonly StreamSpecification?: { readonly StreamViewType: "NEW_IMAGE" };
  readonly TimeToLiveSpecification?: { readonly AttributeName: string; readonly Enabled: boolean };
}

/** The settings of the programs that name a table. */
export type TableSetting = "JOURNAL_TABLE" | "SNAPSHOT_TABLE" | "KEY_TABLE";

/** The tables as tools/dynamodb-setup creates them. TestTablesOnAWS (tests/e2e) writes the file. */
export const tableDefinitions = read<Record<TableSetting, TableDefinition>>("deploy/aws/tables.json");

export type Resource = TableSetting | `${TableSetting}/index` | "JOURNAL_TABLE/stream" | "ERASURE_KMS_KEY";

/** The actions of each program, as seen in its real calls. TestActionsOnAWS (tests/e2e) writes the file. */
export const actions = read<Record<string, Partial<Record<Resource, string[]>>>>("deploy/aws/actions.json");

/**
 * Which metrics of the alerts each program has, and which figures a function writes for CloudWatch.
 * TestWhatIsWatchedIsMeasured (tests/e2e) writes the file.
 */
export const metrics = read<Record<string, string[]>>("deploy/aws/metrics.json");

/** The alerts for Prometheus. */
export const alerts = readFileSync(`${root}deploy/observe/alerts.yml`, "utf8");
