import { hashToken, newTokenText } from '../access/token_text.ts';

/** `glrt`: somebody made the runner, its program only signs in. `glrtr`: it registered itself, and may remove itself. */
type Prefix = 'glrt' | 'glrtr';

export type RunnerToken = { text: string; token_hash: string; token_start: string };

const shown = 8;

/** A new token of a runner: its text is told once, and stored nowhere. */
export const newRunnerToken = (random: (bytes: number) => Buffer, prefix: Prefix): RunnerToken => {
  const text = newTokenText(random, prefix);
  return { text, token_hash: hashToken(text), token_start: text.slice(0, prefix.length + 1 + shown) };
};

/** As another of the same kind. */
export const nextRunnerToken = (
  random: (bytes: number) => Buffer,
  { token_start }: { token_start: string },
): RunnerToken => newRunnerToken(random, token_start.startsWith('glrtr-') ? 'glrtr' : 'glrt');
