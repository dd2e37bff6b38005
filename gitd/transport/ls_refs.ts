/** The list of refs of protocol v2: as git answered it before, while no ref has changed since. */
import type { Context } from '../context.ts';
import { file, flag } from '../exec/arguments.ts';
import { type Hidden, hiddenKey, hidingRefs } from '../exec/env.ts';
import { generationOf } from '../refs/generation.ts';
import { protocolVariables } from './advertise.ts';
import type { Request } from './request.ts';

/** Bytes of all kept answers together, and of one. */
const budget = 32 * 2 ** 20;
const largest = 4 * 2 ** 20;

const kept = new Map<string, Buffer>();
let total = 0;

const keep = (key: string, answer: Buffer): void => {
  if (answer.length > largest || kept.has(key)) return;
  kept.set(key, answer);
  total += answer.length + key.length;
  for (const [oldest, old] of kept) {
    if (total <= budget) return;
    kept.delete(oldest);
    total -= old.length + oldest.length;
  }
};

const found = (key: string): Buffer | undefined => {
  const answer = kept.get(key);
  if (answer === undefined) return undefined;
  kept.delete(key);
  kept.set(key, answer);
  return answer;
};

/** @param dir what is read: the repository, or an empty one */
export const listRefs = async (
  context: Context,
  { dir, hidden }: { dir: string; hidden: Hidden },
  request: Request,
): Promise<Buffer> => {
  const key = `${dir} ${generationOf(dir)} ${hiddenKey(hidden)} ${request.key}`;
  const before = found(key);
  if (before !== undefined) return before;
  const { stdout } = await context.exec.run({
    command: 'upload-pack',
    args: [flag('--stateless-rpc'), file(dir)],
    dir: null,
    slot: 'interactive',
    seconds: 120,
    signal: context.signal,
    variables: protocolVariables(2),
    config: hidingRefs(hidden),
    input: request.bytes,
    maxOutput: 512 * 2 ** 20,
  });
  keep(key, stdout);
  return stdout;
};
