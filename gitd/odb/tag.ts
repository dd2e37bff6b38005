/** Annotated tags as `git tag -a` writes them. */
import type { Oid, Signature } from '../protocol.ts';
import { GitError } from '../failure.ts';
import { formatSignature, longestMessage } from './commit.ts';
import type { ObjectKind } from './loose.ts';

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

/** Not with a pattern: on many blanks that takes the square of their number. */
const withoutTail = (line: string): string => {
  let end = line.length;
  while (end > 0 && isBlank(line[end - 1])) end -= 1;
  return line.slice(0, end);
};

/**
 * The message as `git tag` would store it: no blanks at the ends of lines, no empty lines at its ends, never two
 * on each other, one line feed at the very end.
 */
const cleanMessage = (text: string): string => {
  if (text.length > longestMessage) throw new GitError('too_large', 'the message is too long');
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
