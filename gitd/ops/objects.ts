/** Objects that a write builds on, read through the pool. */
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { reached } from '../effects.ts';
import { isOid } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { parseRawCommit, type RawCommit } from '../odb/commit.ts';
import { makeObjectWriter, type ObjectKind, type ObjectWriter } from '../odb/loose.ts';
import type { Quarantine } from '../odb/quarantine.ts';
import type { Oid } from '../protocol.ts';

const largestCommit = 16 * 2 ** 20;

/** @throws GitError `missing`; `invalid` for what is no full id */
export const kindOfObject = async ({ pools, dir }: Context, id: Oid): Promise<ObjectKind> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const info = await pools.catFile.info(dir, id);
  if (info === null) throw new GitError('missing', `there is no object ${id}`);
  return info.type;
};

/** @throws GitError `missing`; `invalid` where it is no commit */
export const requireCommit = async (context: Context, id: Oid): Promise<void> => {
  if ((await kindOfObject(context, id)) !== 'commit') throw new GitError('invalid', `${id} is no commit`);
};

/** @throws GitError `missing`; `invalid` where it is no commit */
export const readRawCommit = async (context: Context, id: Oid): Promise<RawCommit> => {
  await requireCommit(context, id);
  const found = await context.pools.catFile.contents(context.dir, id, largestCommit);
  if (found === null) throw new GitError('missing', `there is no commit ${id}`);
  return parseRawCommit(found.data);
};

export const writerOf = ({ dir }: Context): ObjectWriter => makeObjectWriter(join(dir, 'objects'));

/** With the answer all that was added is durable. */
export const flush = async (writer: ObjectWriter): Promise<void> => {
  await writer.flush();
  reached('objects.written');
};

/** With the answer all new objects, but these, are the repository's and durable. */
export const keep = async (quarantine: Quarantine, but?: Iterable<Oid>): Promise<void> => {
  await quarantine.keep(but);
  reached('objects.written');
};
