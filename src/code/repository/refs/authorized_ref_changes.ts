/** Changes refs for a user of the API: checks permissions in the transaction, retries lost races. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { conflict, forbidden, notFound } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { RefUpdate } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type Move, moveRefs } from './move_refs.ts';
import type { OperationKind } from './operation_types.ts';
import {
  type ProtectedBranch,
  type ProtectedTag,
  mayCreateTag,
  mayPushTo,
  loadProtectedBranches,
  loadProtectedTags,
} from '../protection/rules.ts';

/** If several changes of one branch are concurrent, all but one must retry. */
const maxAttempts = 12;

/**
 * Retries work that lost a race for a ref. The work must read the refs again at each attempt.
 * @throws Failure 409 after the last attempt
 */
export const retryOnConflict = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isGitFailure(error, 'conflict')) throw error;
      if (attempt === maxAttempts) throw conflict('409 Conflict');
    }
  }
};

/** Reloads the project in this transaction. @throws Failure 404 if it was deleted, 403 if it was archived */
const requireOpenProject = async (tx: Tx, { id }: Project): Promise<Project> => {
  const row = await tx.db
    .selectFrom('projects')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .selectAll()
    .where('projects.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Project');
  if (row.archived === 1) throw forbidden();
  return row;
};

/** Checks a change of a ref against the current rules; throws if it is not allowed. */
export type PermissionCheck<R> = (project: Project, rules: readonly R[]) => void;

export type Change = {
  project: Project;
  kind: OperationKind;
  updates: RefUpdate[];
} & ({ branches: PermissionCheck<ProtectedBranch> } | { tags: PermissionCheck<ProtectedTag> });

/**
 * Changes refs if the check still passes.
 * @throws GitFailure `conflict` for a lost race, `invalid` for an invalid ref name
 */
export const changeRefs = async (call: Call, change: Change): Promise<void> => {
  const { project, kind, updates } = change;
  const check: Move['check'] = async (tx) => {
    const now = await requireOpenProject(tx, project);
    if ('branches' in change) change.branches(now, await loadProtectedBranches(tx.db, project.id));
    else change.tags(now, await loadProtectedTags(tx.db, project.id));
  };
  await moveRefs(call.platform, { project, cause: requireActor(call), kind, updates, check });
};

const noPush = 'You are not allowed to push into this branch';

/** Returns a check that the caller may push to the branch. It throws Failure 403. */
export const requirePushPermission =
  ({ viewer }: Call, branch: string): PermissionCheck<ProtectedBranch> =>
  (project, rules) => {
    if (!mayPushTo(viewer, project, rules, branch)) throw forbidden(noPush);
  };

/** Returns a check that the caller may create or delete the tag. It throws Failure 403. */
export const requireTagPermission =
  ({ viewer }: Call, tag: string): PermissionCheck<ProtectedTag> =>
  (project, rules) => {
    if (!mayCreateTag(viewer, project, rules, tag)) {
      throw forbidden('You are not allowed to create this tag as it is protected.');
    }
  };
