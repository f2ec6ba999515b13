import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { build } from "../lib/build.js";

const app = new App();
build(app);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
