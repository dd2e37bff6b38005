/** How the API moves refs for a user: allowed when it begins, looked at again as it begins, tried again when it loses. */
import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import type { RefUpdate, Signature } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { type Move, moveRefs } from './move_refs.ts';
import type { OperationKind } from './operations.ts';
import {
  type ProtectedBranch,
  type ProtectedTag,
  mayCreateTag,
  mayPushTo,
  protectedBranches,
  protectedTags,
} from './protected.ts';

/** Of those that meet on one branch, all but one begin anew. */
const mostTries = 12;

/**
 * Does it again where a ref moved meanwhile: for what looks at the refs anew each time.
 * @throws Failure 409 where it never comes to its turn
 */
export const retrying = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tried = 1; ; tried += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- a new try begins only after the last one failed
      return await work();
    } catch (error) {
      if (!isGitFailure(error, 'conflict')) throw error;
      if (tried === mostTries) throw conflict('409 Conflict');
    }
  }
};

/** Keeps the project as it is while this transaction lasts, and refuses where it was archived or is gone. */
const holdOpen = async (tx: Tx, { id }: Project): Promise<Project> => {
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

/** What a user may do to a ref under the rules as they are: throws where not. */
export type Judge<R> = (project: Project, rules: readonly R[]) => void;

export type Change = {
  project: Project;
  kind: OperationKind;
  updates: RefUpdate[];
} & ({ branches: Judge<ProtectedBranch> } | { tags: Judge<ProtectedTag> });

/** @throws GitFailure `conflict`, and `invalid` for a name that nothing may have */
export const changeRefs = async (call: Call, change: Change): Promise<void> => {
  const { project, kind, updates } = change;
  const check: Move['check'] = async (tx) => {
    const now = await holdOpen(tx, project);
    if ('branches' in change) change.branches(now, await protectedBranches(tx.db, project.id));
    else change.tags(now, await protectedTags(tx.db, project.id));
  };
  await moveRefs(call.platform, { project, cause: actorOf(call), kind, updates, check });
};

const noPush = 'You are not allowed to push into this branch';

/** @throws Failure 403 for who may not push to the branch */
export const requirePush =
  ({ viewer }: Call, branch: string): Judge<ProtectedBranch> =>
  (project, rules) => {
    if (!mayPushTo(viewer, project, rules, branch)) throw forbidden(noPush);
  };

/** @throws Failure 403 for who may not make the tag, nor take it away */
export const requireTagging =
  ({ viewer }: Call, tag: string): Judge<ProtectedTag> =>
  (project, rules) => {
    if (!mayCreateTag(viewer, project, rules, tag)) {
      throw forbidden('You are not allowed to create this tag as it is protected.');
    }
  };

/** Where the service itself signs, the clock is that of Greenwich. */
export const signatureOf = (
  { now }: Call,
  user: { name: string; email: string },
  given: { name?: string | undefined; email?: string | undefined } = {},
): Signature => {
  const pick = (one: string | undefined, usual: string): string => {
    // oxlint-disable-next-line no-control-regex -- what would end the line, or the name, of a commit
    const clean = (text: string): string => text.replace(/[\u0000-\u001f\u007f<>]/g, ' ').trim();
    return clean(one ?? '') || clean(usual) || 'unknown';
  };
  return {
    name: pick(given.name, user.name),
    email: pick(given.email, user.email),
    time: Math.floor(now / 1_000),
    offset: '+0000',
  };
};
