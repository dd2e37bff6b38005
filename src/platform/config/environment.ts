/**
 * Reads the text of settings from the environment: `GANTRY_NAME`, or for secrets the file that `GANTRY_NAME_FILE`
 * names.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Field } from './parse_values.ts';
import { StartFailure } from '../errors.ts';

type Variable = Pick<Field<unknown>, 'variable' | 'secret'>;

/** Text of a setting, and the variable it came from. */
export type VariableText = { text: string; variable: string; origin: 'environment' | 'file' };

const fileVariable = (variable: string): string => `${variable}_FILE`;

/** Returns the names of the variables that a setting is read from. */
const variableNames = ({ variable, secret }: Variable): string[] =>
  secret === true ? [variable, fileVariable(variable)] : [variable];

/** Reads a file without its final newline, which editors and `echo` add. */
const readSecretFile = (variable: string, path: string): string => {
  let text: string;
  try {
    text = readFileSync(resolve(path), 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartFailure(`${variable} names the file ${path}, which cannot be read (${code ?? 'unknown'})`);
  }
  if (text === '') throw new StartFailure(`${variable} names the file ${path}, which is empty`);
  return text;
};

/**
 * Reads a setting from the environment; null if no variable is set. An empty variable counts as unset.
 * @throws StartFailure for an unreadable file, or a secret that is set in both ways
 */
export const readVariable = (field: Variable, environment: NodeJS.ProcessEnv): VariableText | null => {
  const { variable, secret } = field;
  const text = environment[variable] || null;
  const name = fileVariable(variable);
  const path = (secret === true && environment[name]) || null;
  if (text !== null && path !== null) throw new StartFailure(`set either ${variable} or ${name}, not both`);
  if (text !== null) return { text, variable, origin: 'environment' };
  return path === null ? null : { text: readSecretFile(name, path), variable: name, origin: 'file' };
};

/** Computes the Levenshtein distance. */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_one, column) => column);
  for (const [above, letter] of [...a].entries()) {
    const next = [above + 1];
    for (const [column, distance] of row.slice(0, -1).entries()) {
      const replaced = distance + (letter === b[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const maxTypoDistance = 2;

const suggest = (name: string, settings: readonly string[]): string | null =>
  settings
    .map((setting) => ({ setting, distance: editDistance(name, setting) }))
    .filter(({ distance }) => distance <= maxTypoDistance)
    .toSorted((a, b) => a.distance - b.distance)[0]?.setting ?? null;

/**
 * Lists warnings about unknown `GANTRY_` variables. They do not prevent the start: Kubernetes sets
 * `GANTRY_SERVICE_HOST` and others for a service named gantry.
 */
export const listUnknownVariables = (
  fields: readonly Variable[],
  environment: NodeJS.ProcessEnv,
): string[] => {
  const settings = fields.flatMap(variableNames);
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('GANTRY_') && !name.startsWith('GANTRY_TEST_') && !settings.includes(name),
  );
  const typos = unknown.map((name) => ({ name, meant: suggest(name, settings) }));
  const others = typos.filter(({ meant }) => meant === null).map(({ name }) => name);
  return [
    ...typos.flatMap(({ name, meant }) =>
      meant === null ? [] : [`${name} is not a setting and is ignored; did you mean ${meant}?`],
    ),
    ...(others.length === 0
      ? []
      : [`not settings, ignored: ${others.join(', ')} ("gantry config show --origin" lists the settings)`]),
  ];
};
