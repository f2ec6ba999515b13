import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { build } from "../lib/build.js";

/** The folder deploy/aws, from build/test. */
export const folder = fileURLToPath(new URL("../../", import.meta.url));
export const root = join(folder, "../../");

// The zip of cmd/lambda-updater is built elsewhere; here it is any file.
const zip = join(tmpdir(), "threads-lambda-updater.zip");
writeFileSync(zip, "a zip");

const named = { region: "eu-central-1", tag: "v1", email: "operators@example.com" };
const open = { issuer: "https://login.example.com/", certificate: "arn:aws:acm:eu-central-1:111111111111:certificate/one" };

/** The settings that differ in what they create. */
export const contexts: Record<string, Record<string, string>> = {
  prod: { stage: "prod", ...named, ...open },
  "prod with Lambda and provisioned tables": { stage: "prod", ...named, ...open, updater: "lambda", lambdaZip: zip, capacity: "50,100,1000", publishUrl: "nats://broker:4222" },
  dev: { stage: "dev", ...named },
  "dev with Lambda": { stage: "dev", ...named, updater: "lambda", lambdaZip: zip },
};

export function appOf(context: Record<string, string>): App {
  const { context: flags } = JSON.parse(readFileSync(join(folder, "cdk.json"), "utf8")) as { context: Record<string, unknown> };
  return new App({ context: { ...flags, ...context } });
}

/** The templates of the stacks that a context leads to. */
export function templatesOf(context: Record<string, string>): { data: Template; jobs: Template; programs: Template } {
  const { data, jobs, programs } = build(appOf(context));
  return { data: Template.fromStack(data), jobs: Template.fromStack(jobs), programs: Template.fromStack(programs) };
}

export interface CloudResource {
  readonly Type: string;
  readonly Properties: Record<string, any>;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: string[];
}

export function resources(template: Template, type: string): Record<string, CloudResource> {
  return template.findResources(type) as Record<string, CloudResource>;
}
