// Compares answers with the descriptions that their types are made of. It is a script of its own, which the page loads
// for developers alone: with ?check in its address.
import { answers, shapes } from './answers.ts';

/** A JSON schema, as far as answers need one. */
export interface Shape {
  $ref?: string;
  type?: string[];
  properties?: Record<string, Shape>;
  required?: string[];
  values?: Shape; // of an object whose names are not known
  items?: Shape;
  enum?: unknown[];
  anyOf?: Shape[];
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** What is wrong with a value, and where; '': nothing. */
function fault(shape: Shape | undefined, value: unknown, at: string): string {
  if (!shape) return `${at} is not described`;
  if (shape.$ref) return fault(shapes[shape.$ref], value, at);
  if (shape.anyOf) {
    const faults = shape.anyOf.map((each) => fault(each, value, at));
    return faults.includes('') ? '' : (faults[0] ?? '');
  }
  if (shape.enum) return shape.enum.includes(value) ? '' : `${at} is ${JSON.stringify(value)}`;
  if (!shape.type) return ''; // it may be anything
  const kind = kindOf(value);
  if (!shape.type.includes(kind) && !(kind === 'integer' && shape.type.includes('number'))) return `${at} is ${JSON.stringify(value)}, not ${shape.type.join(' or ')}`;
  if (Array.isArray(value)) return first(value.map((each, i) => fault(shape.items, each, `${at}[${i}]`)));
  if (kind !== 'object') return '';
  const missing = shape.required?.find((name) => !(name in (value as object)));
  if (missing) return `${at}.${missing} is missing`;
  return first(Object.entries(value as object).map(([name, each]) => fault(shape.properties?.[name] ?? shape.values, each, `${at}.${name}`)));
}

const first = (faults: string[]): string => faults.find(Boolean) ?? '';

/** Says on the console what is wrong with an answer: to a request, to a query, or of a type. */
export function check(to: string, answer: unknown): void {
  const found = fault(answers[to] ?? shapes[to], answer, 'answer');
  if (found) console.error(`${to}: the answer has not its type: ${found}`);
}
