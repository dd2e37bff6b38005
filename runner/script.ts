/** The shell script that a job's lines become. */
import type { Values } from './variables.ts';

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const shownLine = (line: string): string => {
  const [first = '', ...more] = line.trimEnd().split('\n');
  return more.length === 0 ? first : `${first} # collapsed multi-line command`;
};

const echoed = (line: string): string =>
  String.raw`printf '\033[32;1m$ %s\033[0;m\n' ` + quote(shownLine(line));

/** A shell without `pipefail` does without. */
const strict = 'set -e\nif (set -o pipefail) 2>/dev/null; then set -o pipefail; fi';

/** A shell keeps these to itself. */
const fixedNames = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);

/** Each command as the shell runs it, with the values of its variables. */
const traced = (values: Values): string[] =>
  values.get('CI_DEBUG_TRACE')?.trim().toLowerCase() === 'true' ? ['set -x'] : [];

export type ScriptParts = {
  lines: readonly string[];
  values: Values;
  /** Where it begins. */
  folder: string;
};

/** Each line is shown before it runs; the first that fails ends it. All run in one shell: a `cd` lasts. */
export const scriptText = ({ lines, values, folder }: ScriptParts): string =>
  [
    ...[...values]
      .filter(([key]) => !fixedNames.has(key))
      .map(([key, value]) => `export ${key}=${quote(value)}`),
    strict,
    `cd ${quote(folder)}`,
    ...traced(values),
    ...lines.flatMap((line) => (line.trim() === '' ? [] : [echoed(line), line])),
    '',
  ].join('\n');
