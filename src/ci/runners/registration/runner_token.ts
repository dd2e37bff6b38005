import { hashToken, generateTokenText } from '../../../core/access/credentials/token_text.ts';

/**
 * `glrt`: a user created the runner, and its program only authenticates. `glrtr`: the program registered itself, and
 * may remove itself.
 */
type Prefix = 'glrt' | 'glrtr';

export type RunnerToken = { text: string; token_hash: string; token_start: string };

const shown = 8;

/** Generates a token of a runner. Its text is shown once and not stored. */
export const newRunnerToken = (random: (bytes: number) => Buffer, prefix: Prefix): RunnerToken => {
  const text = generateTokenText(random, prefix);
  return { text, token_hash: hashToken(text), token_start: text.slice(0, prefix.length + 1 + shown) };
};

/** Generates another token with the same prefix. */
export const nextRunnerToken = (
  random: (bytes: number) => Buffer,
  { token_start }: { token_start: string },
): RunnerToken => newRunnerToken(random, token_start.startsWith('glrtr-') ? 'glrtr' : 'glrt');
