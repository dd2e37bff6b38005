/** What a push to its target branch does to an open request: it may bring what the request was to bring. */
import type { Platform } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Oid, zeroOid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { markMerged } from './complete.ts';
import type { FoundMergeRequest } from './find.ts';
import { branchesOf } from './heads.ts';
import { writeUnlessMerging } from './merging.ts';
import { storeNewVersion } from './new_version.ts';
import { loadRequest, openInto, openWith } from './open_requests.ts';

export type PushedBranch = { branch: string; old: Oid; new: Oid; user_id: number | null };

/** Commits of one push that are looked at. */
const mostCommits = 10_000;

type Pushed = {
  /** What the branch has that it had not. */
  shas: Oid[];
  /** The old commit is not in the new one's history. */
  forced: boolean;
};

const look = async (repository: Repository, { old, new: now }: PushedBranch): Promise<Pushed> => {
  try {
    const [{ is }, { commits }] = await Promise.all([
      repository.ask('commits.is_ancestor', { ancestor: old, descendant: now }),
      repository.ask('commits.list', { from: [now], not: [old], skip: 0, limit: mostCommits }),
    ]);
    return { shas: commits.map(({ id }) => id), forced: !is };
  } catch (error) {
    // Of a history that was rewritten, what is past may be collected.
    if (!isGitFailure(error, 'missing')) throw error;
    return { shas: [], forced: true };
  }
};

/** But for those that were looked at since the branch is where it is now. */
const uncheckAll = async ({ store }: Platform, project: Project, pushed: PushedBranch): Promise<void> => {
  const target_sha = pushed.new === zeroOid ? null : pushed.new;
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('merge_requests')
        .set({ merge_status: 'unchecked' })
        .where('project_id', '=', project.id)
        .where('target_branch', '=', pushed.branch)
        .where('state', '=', 'opened')
        .where('merge_status', '<>', 'unchecked')
        .where('checked_target_sha', 'is distinct from', target_sha)
        .execute(),
  );
};

/** The push brought the request's head: it is merged, by who pushed. No commit was made for that. */
const mergedByPush = async (
  platform: Platform,
  { merge_request, project }: FoundMergeRequest,
  { user_id }: PushedBranch,
): Promise<void> => {
  const { head_sha, id } = merge_request;
  const cause = user_id === null ? null : { user: { id: user_id }, sudo_by_id: null };
  await writeUnlessMerging(platform, merge_request, async (tx) => {
    const now = await tx.db
      .selectFrom('merge_requests')
      .select(['state', 'head_sha'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (now?.state !== 'opened' || head_sha === null || now.head_sha !== head_sha) return;
    await markMerged(
      platform,
      tx,
      { project_id: project.id, cause },
      {
        merge_request_id: id,
        merge_commit_sha: null,
        squash_commit_sha: null,
        source_sha: head_sha,
        remove_source_as: null,
      },
    );
  });
};

const refresh = async (
  platform: Platform,
  found: FoundMergeRequest,
  pushed: PushedBranch,
  brought: ReadonlySet<Oid>,
): Promise<void> => {
  const { head_sha, real_size } = found.merge_request;
  // One without commits of its own has no size: its head was there before.
  const isBrought = head_sha !== null && real_size !== null && brought.has(head_sha);
  if (isBrought) return await mergedByPush(platform, found, pushed);
  const branches = await branchesOf(platform.store.db, found.merge_request, found.project);
  await storeNewVersion(platform, found, branches);
};

/**
 * Requests into the branch: merged where their head came, compared anew where the history that they share with it is
 * another now, else to be looked at again. May be done twice.
 */
export const refreshTarget = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
): Promise<void> => {
  const { db } = platform.store;
  const all = await openInto(db, project.id, pushed.branch);
  if (all.length === 0) return;
  await uncheckAll(platform, project, pushed);
  if (pushed.old === zeroOid || pushed.new === zeroOid) return;
  const { shas, forced } = await look(repositoryOf(platform, project), pushed);
  const touched = forced ? all : await openWith(platform, project.id, pushed.branch, shas);
  const brought = new Set(shas);
  for (const request of touched) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const found = await loadRequest(db, request);
    // oxlint-disable-next-line no-await-in-loop
    if (found?.merge_request.state === 'opened') await refresh(platform, found, pushed, brought);
  }
};
