/** Builds annotated tags as `git tag -a` does. */
import type { Oid, Signature } from '../protocol_records.ts';
import { GitError } from '../git_error.ts';
import { formatSignature, maxMessageLength } from './raw_commit.ts';
import type { ObjectKind } from './loose_object_writer.ts';

export type NewTag = {
  target: Oid;
  kind: ObjectKind;
  /** Without `refs/tags/`. */
  name: string;
  tagger: Signature;
  message: string;
};

const isBlank = (character: string | undefined): boolean =>
  character === ' ' || character === '\t' || character === '\r' || character === '\n';

/** Not a regular expression: many spaces would take quadratic time. */
const withoutTail = (line: string): string => {
  let end = line.length;
  while (end > 0 && isBlank(line[end - 1])) end -= 1;
  return line.slice(0, end);
};

/**
 * Cleans a message as `git tag` does: no trailing blanks, no empty lines at the ends or in a row, one final line
 * feed.
 */
const cleanMessage = (text: string): string => {
  if (text.length > maxMessageLength) throw new GitError('too_large', 'the message is too long');
  const lines: string[] = [];
  for (const line of text.replaceAll('\0', '').split('\n').map(withoutTail))
    if (line !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(line);
  if (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
};

export const buildTag = ({ target, kind, name, tagger, message }: NewTag): Buffer =>
  Buffer.from(
    [
      `object ${target}`,
      `type ${kind}`,
      `tag ${name}`,
      `tagger ${formatSignature(tagger)}`,
      '',
      cleanMessage(message),
    ].join('\n'),
    'utf8',
  );
