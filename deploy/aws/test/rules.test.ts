import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Acknowledgment, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { build } from "../lib/build.js";
import { appOf, contexts, folder, templatesOf } from "./stacks.js";

function violations(context: Record<string, string>): string[] {
  const app = appOf(context);
  build(app);
  const report = new AwsSolutionsChecks(app).validateScope(app);
  return report.violations.flatMap(({ ruleName, violatingResources }) => violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`));
}

test("cdk-nag finds nothing", () => {
  for (const [name, context] of Object.entries(contexts)) {
    assert.deepEqual(violations(context), [], name);
  }
});

test("each rule that does not apply has a reason, and would be broken", () => {
  const acknowledge = Validations.prototype.acknowledge;
  const given: Acknowledgment[] = [];
  Validations.prototype.acknowledge = (...rules) => void given.push(...rules);
  try {
    const broken = Object.values(contexts).flatMap(violations).map((violation) => violation.split(" ")[0]);
    const own = given.filter(({ id }) => id.startsWith("AwsSolutions-")); // the CDK gives some, too
    assert.ok(own.length > 5);
    for (const { id, reason } of own) {
      assert.ok(reason !== undefined && reason.length > 20, id);
      assert.ok(broken.includes(id), `${id} is never broken: its reason can go`);
    }
  } finally {
    Validations.prototype.acknowledge = acknowledge;
  }
});

test("what is missing or contradicts itself is named", () => {
  const without = (...names: string[]) => Object.fromEntries(Object.entries(contexts.prod!).filter(([name]) => !names.includes(name)));
  for (const [context, message] of [
    [without("tag"), /-c tag=/],
    [without("email"), /-c email=/],
    [without("issuer"), /needs -c issuer=/],
    [without("certificate"), /certificate=/],
    [{ ...contexts.dev!, issuer: "https://login.example.com/" }, /without TLS/],
    [{ ...contexts.dev!, stage: "test" }, /dev and prod/],
    [{ ...contexts.dev!, updater: "cron" }, /service or lambda/],
    [{ ...contexts.dev!, updater: "lambda" }, /-c lambdaZip=/],
    [{ ...contexts.dev!, capacity: "9,9,5" }, /on-demand/],
    [{ ...contexts.dev!, publishUrl: "nats://ada:secret@broker:4222" }, /publishSecret/],
    [{ ...contexts.dev!, publishUrl: "nats://broker:4222", publishSecret: "arn" }, /set one/],
    [{ ...contexts.dev!, publishUrl: "https://hook.example.com/?token=secret" }, /publishSecret/],
  ] as const) {
    assert.throws(() => build(appOf(context)), message);
  }
});

// A change of anything is seen in the difference of these files. UPDATE=1 writes them.
test("the stacks of prod are those of the snapshot", () => {
  for (const [stack, template] of Object.entries(templatesOf(contexts.prod!))) {
    const path = join(folder, "test/snapshot", `${stack}.json`);
    const made = `${JSON.stringify(template.toJSON(), null, 1)}\n`;
    if (process.env.UPDATE) {
      writeFileSync(path, made);
    }
    assert.ok(existsSync(path) && readFileSync(path, "utf8") === made, `${path} differs; UPDATE=1 make aws-check writes it`);
  }
});
