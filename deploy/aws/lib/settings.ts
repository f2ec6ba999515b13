import { type Data, networkRange } from "./data.js";

/** The settings of a program that works on the tables, beside its secrets. */
export function settingsOf(program: string, data: Data): Record<string, string> {
  const { stage } = data;
  const lambda = program === "lambda-updater"; // needs no keys
  const settings: Record<string, string> = lambda ? {} : { AWS_REGION: stage.region }; // Lambda sets it itself
  for (const [setting, table] of data.tables) {
    if (lambda && setting === "KEY_TABLE") {
      continue;
    }
    settings[setting] = table.tableName;
  }
  if (stage.shards !== undefined) {
    settings.SHARD_COUNT = stage.shards;
  }
  if (lambda) {
    return settings;
  }
  if (data.masterKey !== undefined) {
    settings.ERASURE = "on";
    settings.ERASURE_KMS_KEY = data.masterKey.keyArn;
  }
  if (program === "threadctl") {
    return settings;
  }
  if (program === "read-model-updater") {
    settings.REBUILD = "auto";
    if (stage.publishUrl !== undefined) {
      settings.PUBLISH_URL = stage.publishUrl;
    }
  }
  settings.TRUSTED_PROXIES = networkRange;
  settings.AUTH = stage.issuer === undefined ? "none" : "oidc";
  if (stage.issuer !== undefined) {
    settings.AUTH_ISSUER = stage.issuer;
    settings.AUTH_AUDIENCE = stage.audience;
  }
  return settings;
}
