/** The program that decodes JSON into classes of the client library of Java. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export type Program = { cwd: string; command: string; args: string[] };

/** Fetches the library; null: Maven or the library is not there. */
export const javaProgram = (): Program | null => {
  const cwd = join(import.meta.dirname, 'java');
  const jars = mkdtempSync(join(tmpdir(), 'jars-'));
  process.once('exit', () => rmSync(jars, { recursive: true, force: true }));
  const copy = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (spawnSync('mvn', copy, { cwd }).status !== 0) return null;
  const classPath = [join(jars, '*'), '.'].join(delimiter);
  return { cwd, command: 'java', args: ['-cp', classPath, 'Decode.java'] };
};
