/** Builds and parses commits byte for byte as `git commit-tree` writes them. */
import { GitError } from '../git_error.ts';
import type { Oid, Signature } from '../protocol_records.ts';

export type NewCommit = {
  tree: Oid;
  parents: Oid[];
  author: Signature;
  committer: Signature;
  message: string;
};

/** The parts of a commit as byte strings (latin1), so that a rebuilt commit keeps every byte. */
export type RawCommit = {
  tree: Oid;
  parents: Oid[];
  /** `A <a@example.com> 1500000000 +0000` */
  author: string;
  /** Encoding of the message if it is not UTF-8. */
  encoding: string | null;
  message: Buffer;
};

/** In UTF-16 code units, like `length`. */
export const maxMessageLength = 4 * 2 ** 20;
const maxNameLength = 1024;
/** Largest number of seconds that git and JSON both represent exactly. */
const latestTime = 2 ** 53 - 1;

/** Characters that git strips from both ends of a name. */
const isCrud = (character: string): boolean => character <= ' ' || `.,:;<>"\\'`.includes(character);

const cleanName = (text: string): string => {
  const characters = [...text.slice(0, maxNameLength).replaceAll(/[\0\n<>]/gu, '')];
  const first = characters.findIndex((character) => !isCrud(character));
  const last = characters.findLastIndex((character) => !isCrud(character));
  return first < 0 ? '' : characters.slice(first, last + 1).join('');
};

/** `A <a@example.com> 1500000000 +0000` */
export const formatSignature = ({ name, email, time, offset }: Signature): string => {
  const isTime = Number.isInteger(time) && time >= 0 && time <= latestTime;
  if (!isTime || !/^[+-]\d{4}$/u.test(offset))
    throw new GitError('invalid', 'invalid time in author or committer');
  const address = cleanName(email);
  const shown = cleanName(name) || address.split('@')[0] || 'unknown';
  return `${shown} <${address}> ${time} ${offset}`;
};

/** Removes only what no commit may contain: API clients compare the message they sent. */
const plainMessage = (text: string): string => {
  if (text.length > maxMessageLength) throw new GitError('too_large', 'the message is too long');
  return text.replaceAll('\0', '');
};

export const buildCommit = ({ tree, parents, author, committer, message }: NewCommit): Buffer => {
  const header = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ];
  return Buffer.from(`${header.join('\n')}\n\n${plainMessage(message)}`, 'utf8');
};

/** Returns the value of the first header with this name. */
const headerValue = (lines: string[], name: string): string | null =>
  lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;

/** Parses a commit. @throws Error if the data is not a commit */
export const parseRawCommit = (content: Buffer): RawCommit => {
  const end = content.indexOf('\n\n');
  const lines = content.toString('latin1', 0, end < 0 ? content.length : end).split('\n');
  const [tree, author] = [headerValue(lines, 'tree'), headerValue(lines, 'author')];
  if (tree === null || author === null) throw new Error('malformed commit');
  return {
    tree,
    parents: lines.filter((line) => line.startsWith('parent ')).map((line) => line.slice(7)),
    author,
    encoding: headerValue(lines, 'encoding'),
    message: end < 0 ? Buffer.alloc(0) : content.subarray(end + 2),
  };
};

/** Builds a commit with the same author and message on another tree. Drops the signature, which would be wrong. */
export const rebuildCommit = (
  { author, encoding, message }: RawCommit,
  { tree, parents, committer }: Pick<NewCommit, 'tree' | 'parents' | 'committer'>,
): Buffer => {
  const header = [
    `tree ${tree}\n`,
    ...parents.map((parent) => `parent ${parent}\n`),
    Buffer.from(`author ${author}\n`, 'latin1'),
    `committer ${formatSignature(committer)}\n`,
    Buffer.from(encoding === null ? '' : `encoding ${encoding}\n`, 'latin1'),
    '\n',
    message,
  ];
  return Buffer.concat(header.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part)));
};
