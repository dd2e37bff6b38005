/** Reads the signature of a commit or a tag, and what it signs: the object without the signature. */
import type { MethodHandler } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { readObjectKind, requireCommit } from '../pool/read_object.ts';

/** Larger commits, and larger signatures, have none that is read. */
const maxCommitBytes = 1_048_576;
const maxSignatureLength = 16_384;

const field = 'gpgsig ';

/** Splits the header of a commit, as byte strings, into the signature and the other lines. */
const splitHeader = (header: string): { signature: string; rest: string } | null => {
  const lines = header.split('\n');
  const start = lines.findIndex((line) => line.startsWith(field));
  if (start === -1) return null;
  let end = start + 1;
  while (lines[end]?.startsWith(' ') === true) end += 1;
  const [first = '', ...others] = lines.slice(start, end);
  const signature = [first.slice(field.length), ...others.map((line) => line.slice(1))].join('\n');
  return { signature, rest: [...lines.slice(0, start), ...lines.slice(end)].join('\n') };
};

export const readCommitSignature: MethodHandler<'commits.signature'> = async ({ id }, context) => {
  await requireCommit(context, id);
  const object = await context.pools.catFile.contents(context.dir, id, maxCommitBytes);
  if (object === null) throw new GitError('missing', `there is no commit ${id}`);
  const text = object.data.toString('latin1');
  const end = text.indexOf('\n\n');
  const split = splitHeader(end === -1 ? text : text.slice(0, end));
  if (split === null || split.signature.length > maxSignatureLength) return { result: null };
  const payload = Buffer.from(split.rest + (end === -1 ? '' : text.slice(end)), 'latin1');
  return { result: { signature: split.signature }, body: payload };
};

const tagSignature = /^-----BEGIN (?:PGP|SSH) SIGNATURE-----$/gm;

/** Reads the signature of an annotated tag, which stands at the end of its message. */
export const readTagSignature: MethodHandler<'tags.signature'> = async ({ id }, context) => {
  if ((await readObjectKind(context, id)) !== 'tag') return { result: null };
  const object = await context.pools.catFile.contents(context.dir, id, maxCommitBytes);
  if (object === null) throw new GitError('missing', `there is no tag ${id}`);
  const text = object.data.toString('latin1');
  const start = [...text.matchAll(tagSignature)].at(-1)?.index ?? -1;
  if (start === -1 || text.length - start > maxSignatureLength) return { result: null };
  return { result: { signature: text.slice(start) }, body: object.data.subarray(0, start) };
};
