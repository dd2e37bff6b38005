/**
 * Reads the head of the default branch before refs move. The commits of a new branch are those that the default branch
 * does not have at that time: later the branch may be merged.
 */
import type { Platform } from '../../../core/platform.ts';
import { GitFailure } from '../../../platform/git/failure.ts';
import { type Oid, type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { getDefaultRef } from '../find_code.ts';
import { getRepository } from '../get_repository.ts';
import { branchPrefix } from './resolve.ts';

/** The default branch before a move; null: the project had none, or the branch did not exist. */
export type DefaultHead = { ref: string; commit: Oid } | null;

export const isNewBranch = ({ ref, old, new: newOid }: RefUpdate): boolean =>
  ref.startsWith(branchPrefix) && (old === zeroOid || old === null) && newOid !== zeroOid;

/** Part of the data of an operation; empty if no branch is created, or git does not answer. */
export const readDefaultHead = async (
  platform: Platform,
  project: RepositoryLocation,
  updates: readonly RefUpdate[],
): Promise<{ default_head?: DefaultHead }> => {
  if (!updates.some(isNewBranch)) return {};
  const row = await platform.store.db
    .selectFrom('projects')
    .select('default_branch')
    .where('id', '=', project.id)
    .executeTakeFirst();
  const ref = row === undefined ? null : getDefaultRef(row);
  if (ref === null) return { default_head: null };
  try {
    const { refs } = await getRepository(platform, project).ask('refs.get', { names: [ref] });
    const commit = refs[0]?.commit ?? null;
    return { default_head: commit === null ? null : { ref, commit } };
  } catch (error) {
    if (error instanceof GitFailure) return {};
    throw error;
  }
};

/**
 * Returns the commit that new branches of a move start at: the default branch as the move itself leaves it.
 * @param first the branch that the project adopts if it has no default branch
 */
export const findNewBranchBase = (
  before: DefaultHead | undefined,
  updates: readonly RefUpdate[],
  first: string | null,
): Oid | null | undefined => {
  if (before === undefined) return undefined;
  const ref = before?.ref ?? (first === null ? null : `${branchPrefix}${first}`);
  const moved = updates.find((update) => update.ref === ref && update.new !== zeroOid);
  return moved?.new ?? before?.commit ?? null;
};
