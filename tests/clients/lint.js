// Checks the served OpenAPI document with the recommended rules of Redocly and with Spectral's. Warnings fail, too.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { writeURL } from './system.js';

const source = await (await fetch(`${writeURL}/openapi.json`)).text();
const problems = [];

const config = await createConfig({ extends: ['recommended'] });
for (const { severity, ruleId, message, location } of await lintFromString({ source, absoluteRef: 'openapi.json', config })) {
  problems.push(`redocly: ${severity} ${ruleId} at ${location[0]?.pointer}: ${message}`);
}

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
for (const { code, path, message } of await linter.run(JSON.parse(source))) {
  problems.push(`spectral: ${code} at ${path.join('/')}: ${message}`);
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
