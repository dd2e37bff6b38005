/** Reads the signature of a commit or a tag, and what it signs: the object without the signature. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { isOid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import type { GitObject } from '../pool/cat_file.ts';
import type { Oid } from '../protocol_records.ts';

/** Signatures of larger objects, and larger signatures, are ignored. */
const maxObjectBytes = 1_048_576;
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

/** Reads an object unless it is too large: asking for its contents would end the shared `cat-file` process. */
const readSmall = async ({ pools, dir }: Context, id: Oid): Promise<Partial<GitObject>> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const info = await pools.catFile.info(dir, id);
  if (info === null) throw new GitError('missing', `object ${id} does not exist`);
  if (info.size > maxObjectBytes) return { type: info.type };
  return (await pools.catFile.contents(dir, id, maxObjectBytes)) ?? { type: info.type };
};

export const readCommitSignature: MethodHandler<'commits.signature'> = async ({ id }, context) => {
  const { type, data } = await readSmall(context, id);
  if (type !== 'commit') throw new GitError('invalid', `${id} is not a commit`);
  if (data === undefined) return { result: null };
  const text = data.toString('latin1');
  const end = text.indexOf('\n\n');
  const split = splitHeader(end === -1 ? text : text.slice(0, end));
  if (split === null || split.signature.length > maxSignatureLength) return { result: null };
  const payload = Buffer.from(split.rest + (end === -1 ? '' : text.slice(end)), 'latin1');
  return { result: { signature: split.signature }, body: payload };
};

const tagSignature = /^-----BEGIN (?:PGP|SSH) SIGNATURE-----$/gm;

/** Reads the signature of an annotated tag, which is at the end of its message. */
export const readTagSignature: MethodHandler<'tags.signature'> = async ({ id }, context) => {
  const { type, data } = await readSmall(context, id);
  if (type !== 'tag' || data === undefined) return { result: null };
  const text = data.toString('latin1');
  const start = [...text.matchAll(tagSignature)].at(-1)?.index ?? -1;
  if (start === -1 || text.length - start > maxSignatureLength) return { result: null };
  return { result: { signature: text.slice(start) }, body: data.subarray(0, start) };
};
