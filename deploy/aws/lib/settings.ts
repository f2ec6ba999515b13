import { type Data, networkRange } from "./data.js";

/** The settings of a program that works on the tables, beside its secrets. */
export function settingsOf(program: string, data: Data): Record<string, string> {
  const { stage } = data;
  const projects = program === "lambda-updater"; // and needs no keys
  const settings: Record<string, string> = program.startsWith("lambda-") ? {} : { AWS_REGION: stage.region }; // Lambda sets it itself
  for (const [setting, table] of data.tables) {
    if (projects && setting === "KEY_TABLE") {
      continue;
    }
    settings[setting] = table.tableName;
  }
  if (stage.shards !== undefined) {
    settings.SHARD_COUNT = stage.shards;
  }
  if (projects) {
    return settings;
  }
  if (data.masterKey !== undefined) {
    settings.ERASURE = "on";
    settings.ERASURE_KMS_KEY = data.masterKey.keyArn;
  }
  if (stage.publishUrl !== undefined && (program === "read-model-updater" || program === "lambda-publisher")) {
    settings.PUBLISH_URL = stage.publishUrl;
  }
  if (program === "threadctl" || program === "lambda-publisher") {
    return settings;
  }
  if (program === "read-model-updater") {
    settings.REBUILD = "auto";
  }
  settings.TRUSTED_PROXIES = networkRange;
  settings.AUTH = stage.issuer === undefined ? "none" : "oidc";
  if (stage.issuer !== undefined) {
    settings.AUTH_ISSUER = stage.issuer;
    settings.AUTH_AUDIENCE = stage.audience;
  }
  return settings;
}
