/** Reads the text of settings from the environment: `GANTRY_NAME`, or for secrets the file `GANTRY_NAME_FILE` names. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Field } from './config_values.ts';
import { StartFailure } from './errors.ts';

type Variable = Pick<Field<unknown>, 'variable' | 'secret'>;

/** The text of a setting, and the name of the variable that it comes from. */
export type VariableText = { text: string; variable: string; origin: 'environment' | 'file' };

const fileVariable = (variable: string): string => `${variable}_FILE`;

/** Names of the variables that a setting is read from. */
const variableNames = ({ variable, secret }: Variable): string[] =>
  secret === true ? [variable, fileVariable(variable)] : [variable];

/** The file's text without its final newline, which editors and `echo` add. */
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
 * The text of a setting in the environment; null where no variable is set. An empty variable counts as not set.
 * @throws StartFailure for a file that cannot be read, or a secret set in both ways
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

/** Levenshtein distance. */
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

const largestTypo = 2;

const suggest = (name: string, settings: readonly string[]): string | null =>
  settings
    .map((setting) => ({ setting, distance: editDistance(name, setting) }))
    .filter(({ distance }) => distance <= largestTypo)
    .toSorted((a, b) => a.distance - b.distance)[0]?.setting ?? null;

/**
 * Warnings about `GANTRY_` variables that are no settings. They do not stop the start: Kubernetes sets
 * `GANTRY_SERVICE_HOST` and others for a service that is named gantry.
 */
export const unknownVariables = (fields: readonly Variable[], environment: NodeJS.ProcessEnv): string[] => {
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
