import { type App, Tags } from "aws-cdk-lib";
import { Data } from "./data.js";
import { Jobs } from "./jobs.js";
import { Programs } from "./programs.js";
import { readStage } from "./stage.js";

/** Adds the stacks of the stage that the app's context names. */
export function build(app: App): { data: Data; jobs: Jobs; programs: Programs } {
  const stage = readStage(app.node);
  const props = { env: { region: stage.region } }; // in any account, so that what is tested is what is deployed
  const name = `threads-${stage.name}`;
  const data = new Data(app, `${name}-data`, stage, props);
  const jobs = new Jobs(app, `${name}-jobs`, data, props);
  const programs = new Programs(app, name, data, jobs, props);
  Tags.of(app).add("threads", stage.name);
  return { data, jobs, programs };
}
