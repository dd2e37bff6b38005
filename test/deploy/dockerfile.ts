/** Reads `deploy/Dockerfile`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

type Instruction = { name: string; rest: string };

/** Its instructions, each with its continuation lines. */
export const instructions: readonly Instruction[] = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.split(/\s/)[0] ?? '', rest: line.replace(/^\S+\s+/, '').trim() }));

/** The instructions of the stage that becomes the image. */
export const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM') + 1);

export const restsOf = (name: string, list: readonly Instruction[] = instructions): string[] =>
  list.filter((one) => one.name === name).map(({ rest }) => rest);

/** Patterns of the files that a build gets, which the ignore file leaves in. */
export const keptPatterns = readFileSync(join(root, 'deploy/Dockerfile.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));
