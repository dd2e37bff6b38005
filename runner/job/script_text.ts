/** Builds the shell script of a job's lines. */
import type { Values } from '../job_variables.ts';

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const shownLine = (line: string): string => {
  const [first = '', ...more] = line.trimEnd().split('\n');
  return more.length === 0 ? first : `${first} # collapsed multi-line command`;
};

const echoed = (line: string): string =>
  String.raw`printf '\033[32;1m$ %s\033[0;m\n' ` + quote(shownLine(line));

/** Not every shell has `pipefail`. */
const strict = 'set -e\nif (set -o pipefail) 2>/dev/null; then set -o pipefail; fi';

/** Variables that shells manage themselves. */
const fixedNames = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);

/** Traces each command with its values (`set -x`). */
const traced = (values: Values): string[] =>
  values.get('CI_DEBUG_TRACE')?.trim().toLowerCase() === 'true' ? ['set -x'] : [];

export type ScriptParts = {
  lines: readonly string[];
  values: Values;
  /** Working directory. */
  folder: string;
};

/** Shows each line before it runs and stopSignals at the first failure. All run in one shell: a `cd` lasts. */
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
