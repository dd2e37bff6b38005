import { isOid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import type { MethodHandler } from '../handler_types.ts';
import { describeRef } from './read_refs.ts';

/** Reads an annotated tag by its id, whether or not a ref still points to it. */
export const readTag: MethodHandler<'tags.get'> = async ({ id }, context) => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const object = await context.pools.catFile.info(context.dir, id);
  if (object?.type !== 'tag') return { result: null };
  const tag = { name: '', target: id, commit: null, isTag: true };
  const { commit, message, tagger } = await describeRef(context, tag);
  return { result: { commit, message, tagger } };
};
