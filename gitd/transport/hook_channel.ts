/** What our hooks say on the file descriptor 3 of `git receive-pack`, and what they are answered. */
import type { Duplex } from 'node:stream';
import { GitError } from '../failure.ts';
import type { Oid } from '../protocol.ts';

export type HookUpdate = { ref: string; old: Oid; new: Oid };

export type HookCall = {
  hook: 'pre-receive' | 'post-receive';
  /** Folder of the new objects; '' where none came, as with deletions. */
  quarantine: string;
  push_options: string[];
  updates: HookUpdate[];
};

/** `lines` are shown to the pusher. */
export type HookAnswer = { code: 0 | 1; lines: string[] };

/** A push of more refs is refused by `pre-receive`; this is for what cannot even be read. */
const largestCall = 64 * 2 ** 20;
const mostOptions = 1_000;

const updatePattern = /^([0-9a-f]{40}) ([0-9a-f]{40}) (refs\/[^\0]+)$/;

const updateOf = (line: string): HookUpdate => {
  const [, old = '', next = '', ref = ''] = updatePattern.exec(line) ?? [];
  if (ref === '') throw new GitError('internal', 'a hook says what no hook says');
  return { ref, old, new: next };
};

/** Texts that end with NUL at the begin of the bytes; null: not all of them are there. */
const textsOf = (bytes: Buffer, number: number): { texts: string[]; next: number } | null => {
  const texts: string[] = [];
  let next = 0;
  for (let at = 0; at < number; at += 1) {
    const end = bytes.indexOf(0, next);
    if (end === -1) return null;
    texts.push(bytes.toString('utf8', next, end));
    next = end + 1;
  }
  return { texts, next };
};

/**
 * The call that the bytes are; null: it is not whole yet. Its end is a NUL, for names of refs may have line ends in
 * them as long as git has not looked at them, which it does after `pre-receive`.
 */
export const hookCallOf = (bytes: Buffer): HookCall | null => {
  const head = textsOf(bytes, 3);
  if (head === null) return null;
  const [hook, quarantine = '', number = ''] = head.texts;
  if (hook !== 'pre-receive' && hook !== 'post-receive') throw new GitError('internal', 'an unknown hook');
  const options = /^\d{1,9}$/.test(number) ? Number(number) : Number.NaN;
  if (!(options <= mostOptions)) throw new GitError('too_large', 'a push has too many options');
  const rest = textsOf(bytes.subarray(head.next), options + 1);
  if (rest === null) return null;
  if (head.next + rest.next !== bytes.length) throw new GitError('internal', 'a hook goes on after its end');
  const updates = (rest.texts[options] ?? '').split('\n').filter(Boolean).map(updateOf);
  return { hook, quarantine, push_options: rest.texts.slice(0, options), updates };
};

const answerText = ({ code, lines }: HookAnswer): string => {
  const clean = lines.flatMap((line) => line.split(/[\r\n]+/)).map((line) => `:${line}\n`);
  return `${code}\n${clean.join('')}.\n`;
};

/** Answers each hook that calls, one after another. A handler must not throw. */
export const serveHooks = (channel: Duplex, handle: (call: HookCall) => Promise<HookAnswer>): void => {
  let chunks: Buffer[] = [];
  let length = 0;
  const take = async (chunk: Buffer): Promise<void> => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > largestCall) throw new GitError('too_large', 'a hook says too much');
    if (chunk.at(-1) !== 0) return; // every call ends so
    const call = hookCallOf(Buffer.concat(chunks, length));
    if (call === null) return;
    chunks = [];
    length = 0;
    channel.write(answerText(await handle(call)));
  };
  channel.on('data', (chunk: Buffer) => {
    // Who reads nothing from us any more ends with an error of its own, and the push with it.
    take(chunk).catch(() => channel.destroy());
  });
};
