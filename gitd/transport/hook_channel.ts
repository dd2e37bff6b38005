/** Speaks with our hooks over file descriptor 3 of `git receive-pack`. */
import type { Duplex } from 'node:stream';
import { GitError } from '../git_error.ts';
import type { Oid } from '../protocol_records.ts';

export type HookUpdate = { ref: string; old: Oid; new: Oid };

export type HookCall = {
  hook: 'pre-receive' | 'post-receive';
  /** Folder of the new objects; '' if there are no new objects, as for deletions. */
  quarantine: string;
  push_options: string[];
  updates: HookUpdate[];
};

/** `lines` are shown to the pusher. */
export type HookAnswer = { code: 0 | 1; lines: string[] };

/** Limit of unreadable input; `pre-receive` refuses pushes of too many refs. */
const maxCallBytes = 64 * 2 ** 20;
const maxOptions = 1_000;

const updatePattern = /^([0-9a-f]{40}) ([0-9a-f]{40}) (refs\/[^\0]+)$/;

const parseUpdate = (line: string): HookUpdate => {
  const [, old = '', next = '', ref = ''] = updatePattern.exec(line) ?? [];
  if (ref === '') throw new GitError('internal', 'invalid hook message');
  return { ref, old, new: next };
};

/** Parses texts that end with NUL; null if they are incomplete. */
const parseTexts = (bytes: Buffer, number: number): { texts: string[]; next: number } | null => {
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
 * Parses a call; null if it is incomplete. It ends with NUL: git checks names of refs only after `pre-receive`, so
 * they may contain line feeds.
 */
export const parseHookCall = (bytes: Buffer): HookCall | null => {
  const head = parseTexts(bytes, 3);
  if (head === null) return null;
  const [hook, quarantine = '', number = ''] = head.texts;
  if (hook !== 'pre-receive' && hook !== 'post-receive') throw new GitError('internal', 'an unknown hook');
  const options = /^\d{1,9}$/.test(number) ? Number(number) : Number.NaN;
  if (!(options <= maxOptions)) throw new GitError('too_large', 'a push has too many options');
  const body = parseTexts(bytes.subarray(head.next), options + 1);
  if (body === null) return null;
  if (head.next + body.next !== bytes.length)
    throw new GitError('internal', 'data after the end of a hook message');
  const updates = (body.texts[options] ?? '').split('\n').filter(Boolean).map(parseUpdate);
  return { hook, quarantine, push_options: body.texts.slice(0, options), updates };
};

const answerText = ({ code, lines }: HookAnswer): string => {
  const clean = lines.flatMap((line) => line.split(/[\r\n]+/)).map((line) => `:${line}\n`);
  return `${code}\n${clean.join('')}.\n`;
};

/** Answers the calls of hooks, one after another. The handler must not throw. */
export const serveHooks = (channel: Duplex, handle: (call: HookCall) => Promise<HookAnswer>): void => {
  let chunks: Buffer[] = [];
  let length = 0;
  const take = async (chunk: Buffer): Promise<void> => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxCallBytes) throw new GitError('too_large', 'hook message too long');
    if (chunk.at(-1) !== 0) return; // the end of every call
    const call = parseHookCall(Buffer.concat(chunks, length));
    if (call === null) return;
    chunks = [];
    length = 0;
    channel.write(answerText(await handle(call)));
  };
  channel.on('data', (chunk: Buffer) => {
    // If the hook no longer reads, it fails by itself, and the push with it.
    take(chunk).catch(() => channel.destroy());
  });
};
