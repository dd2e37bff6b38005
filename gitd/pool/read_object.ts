/** Reads kinds of objects and raw commits through the pool of `cat-file` processes. */
import { isOid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { parseRawCommit, type RawCommit } from '../odb/raw_commit.ts';
import type { ObjectKind } from '../odb/loose_object_writer.ts';
import type { Oid } from '../protocol_records.ts';
import type { Pools } from './pools.ts';

/** A repository folder and the processes that read it. */
type Source = { pools: Pools; dir: string };

const maxCommitBytes = 16 * 2 ** 20;

/** Reads the kind of an object. @throws GitError `missing`; `invalid` unless `id` is a full object id */
export const readObjectKind = async ({ pools, dir }: Source, id: Oid): Promise<ObjectKind> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const info = await pools.catFile.info(dir, id);
  if (info === null) throw new GitError('missing', `object ${id} does not exist`);
  return info.type;
};

/** Checks that an object is a commit. @throws GitError `missing`; `invalid` if it is not */
export const requireCommit = async (source: Source, id: Oid): Promise<void> => {
  if ((await readObjectKind(source, id)) !== 'commit') throw new GitError('invalid', `${id} is not a commit`);
};

/** Reads and parses a commit. @throws GitError `missing`; `invalid` if the object is not a commit */
export const readRawCommit = async (source: Source, id: Oid): Promise<RawCommit> => {
  await requireCommit(source, id);
  const object = await source.pools.catFile.contents(source.dir, id, maxCommitBytes);
  if (object === null) throw new GitError('missing', `commit ${id} does not exist`);
  return parseRawCommit(object.data);
};
