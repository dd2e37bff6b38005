/** Parses commits and tags as git stores them. Lenient: old histories contain malformed objects. */
import type { Commit, Oid, Signature } from '../protocol_records.ts';
import { decodeText } from '../decode_text.ts';

const nobody: Signature = { name: '', email: '', time: 0, offset: '+0000' };

/** Largest time in seconds that a JavaScript date can hold. */
const maxSeconds = 8.64e12;

/** Parses `A <a@example.com> 1500000000 +0000`. Missing parts become empty. */
const parseSignature = (line: string | undefined): Signature => {
  if (line === undefined) return nobody;
  const [open, close] = [line.indexOf('<'), line.lastIndexOf('>')];
  if (open < 0 || close < open) return { ...nobody, name: line.trim() };
  const [, time = '0', offset = '+0000'] = /^\s*(-?\d+)(?:\s+([+-]\d{4}))?/.exec(line.slice(close + 1)) ?? [];
  const seconds = Number(time);
  return {
    name: line.slice(0, open).trim(),
    email: line.slice(open + 1, close).trim(),
    time: Math.abs(seconds) <= maxSeconds ? seconds : 0,
    offset,
  };
};

type Parts = { head: Buffer; body: Buffer };

/** Splits an object at the first blank line, into headers and message. */
const splitObject = (data: Buffer): Parts => {
  const end = data.indexOf('\n\n');
  return end < 0
    ? { head: data, body: Buffer.alloc(0) }
    : { head: data.subarray(0, end), body: data.subarray(end + 2) };
};

/** Returns the first value of each header, and all parents. */
const parseHeaders = (text: string): { first: Map<string, string>; parents: Oid[] } => {
  const first = new Map<string, string>();
  const parents: Oid[] = [];
  for (const line of text.split('\n')) {
    const blank = line.indexOf(' ');
    if (blank < 1) continue; // a continuation line of a signature
    const [key, value] = [line.slice(0, blank), line.slice(blank + 1)];
    if (key === 'parent') parents.push(value);
    else if (!first.has(key)) first.set(key, value);
  }
  return { first, parents };
};

export const parseCommit = (id: Oid, data: Buffer): Commit => {
  const { head, body } = splitObject(data);
  const encoding = /^encoding (.+)$/m.exec(head.toString('latin1'))?.[1] ?? null;
  const { first, parents } = parseHeaders(decodeText(head, encoding));
  return {
    id,
    tree: first.get('tree') ?? '',
    parents,
    author: parseSignature(first.get('author')),
    committer: parseSignature(first.get('committer')),
    message: decodeText(body, encoding),
    ...(first.has('gpgsig') && { signed: true }),
  };
};

export type Tag = { target: Oid; type: string; tagger: Signature | null; message: string };

export const parseTag = (data: Buffer): Tag => {
  const { head, body } = splitObject(data);
  const { first } = parseHeaders(decodeText(head));
  const tagger = first.get('tagger');
  return {
    target: first.get('object') ?? '',
    type: first.get('type') ?? '',
    tagger: tagger === undefined ? null : parseSignature(tagger),
    message: decodeText(body),
  };
};
