import { alerts, metrics } from "./definitions.js";

/** An alert of deploy/observe. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must hold. */
  readonly minutes: number;
  /** Of docs/operations.md. */
  readonly section: string;
  /** The metrics in the expression. */
  readonly metrics: string[];
}

const known = [...new Set(Object.values(metrics).flat())];

function parse(block: string): Alert {
  const text = block.replace(/expr: >-\n +((?:.*\n)*?)(?= {8}\w)/, (_, lines: string) => `expr: ${lines.trim().replaceAll(/\n */g, " ")}\n`);
  const field = (name: string) => new RegExp(`\\b${name}: "?(.*?)"?\n`).exec(text)?.[1] ?? "";
  const expression = field("expr");
  return {
    name: field("alert"),
    expression,
    minutes: Number(/\d+/.exec(field("for"))?.[0] ?? 1),
    section: field("runbook").split("#")[1] ?? "",
    metrics: known.filter((name) => new RegExp(`\\b${name}\\b`).test(expression)),
  };
}

const blockOf = (name = "\\w+") => new RegExp(`^ {6}- alert: ${name}\\n(?: {8}.*\\n)*`, "gm");

export const allAlerts: Alert[] = (alerts.match(blockOf()) ?? []).map(parse);

/** The text of the alerts, without some. A group without rules, which AWS may refuse, is left out, too. */
export function alertsWithout(names: string[]): string {
  return names.reduce((text, name) => text.replace(blockOf(name), ""), alerts).replace(/^ {2}- name: \w+\n {4}rules:\n(?! {6})/gm, "");
}

/** Those whose metrics only a read-model-updater has: there are none when Lambda calls the updater. */
export const ofTheUpdater = allAlerts.filter((alert) => !alert.metrics.every((name) => [...metrics["write-api"]!, ...metrics["read-api"]!].includes(name)));

/** The program whose figures tell the condition of an alert, each of which must be 0; undefined: there is none. */
export function figuresFor(alert: Alert): "lambda-updater" | "lambda-publisher" | undefined {
  if (!/^max(?: by \(\w+\))? ?\(\w+\) > 0$/.test(alert.expression)) {
    return undefined;
  }
  return (["lambda-updater", "lambda-publisher"] as const).find((program) => alert.metrics.every((name) => metrics[program]!.includes(name)));
}
