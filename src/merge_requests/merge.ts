/**
 * Merging: git makes the commit and moves the target branch, the database says so. Of many who merge into one branch,
 * each builds on what the one before left; of many who merge one request, one does it.
 */
import type { Call, Platform } from '../access/call.ts';
import { actorOf } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Cause } from '../events/record.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Oid } from '../git/protocol_types.ts';
import { inTurn } from '../in_turn.ts';
import { loadProject } from '../projects/find.ts';
import { moveRefs } from '../repository/move_refs.ts';
import { branchPrefix } from '../repository/resolve.ts';
import { closingIssues, seenBy } from './closing.ts';
import { type MergeData, mergeCompletion } from './complete.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';
import { branchesOf, readHeads } from './heads.ts';
import { type Merged, makeMergeCommit } from './merge_commit.ts';
import { defaultMergeMessage, defaultSquashMessage } from './merge_message.ts';
import { cannotBeMerged, otherHead, requireOpen, requireReady } from './merge_rules.ts';
import { type MergeCheck, notMergeable, storeStatus, tooLargeToMerge } from './merge_status.ts';
import { lockUnlessMerging, writeUnlessMerging } from './merging.ts';
import { storeNewVersion } from './new_version.ts';
import { latestVersion } from './version_queries.ts';

export type MergeParams = {
  merge_commit_message?: string;
  squash_commit_message?: string;
  squash?: boolean;
  should_remove_source_branch?: boolean;
  sha?: string;
};

/** Who merges, with what the commits say of him. */
export type Merger = { cause: Cause; viewer: Viewer; name: string; email: string };

export type Merging = {
  platform: Platform;
  found: FoundMergeRequest;
  merger: Merger;
  params: MergeParams;
  baseUrl?: string;
};

export const mergerOf = (call: Call): Merger => {
  const actor = actorOf(call);
  return { cause: actor, viewer: call.viewer, name: actor.user.name, email: actor.user.email };
};

/** The two commits that are merged. */
type Ends = { source_sha: Oid; target_sha: Oid };

/**
 * The heads as they are now, the source's stored as a version.
 * @throws Failure 409 where the source is another than the one who merges has seen, 405 where there is nothing to merge
 */
export const endsOf = async ({ platform, found, params }: Merging): Promise<Ends> => {
  const { merge_request, project } = found;
  const branches = await branchesOf(platform.store.db, merge_request, project);
  const { source_sha, target_sha } = await readHeads(platform, branches);
  const isOther = params.sha !== undefined && source_sha !== null && params.sha !== source_sha;
  if (isOther) throw otherHead();
  if (source_sha === null || target_sha === null) throw cannotBeMerged();
  if (source_sha !== merge_request.head_sha) {
    await storeNewVersion(platform, found, { ...branches, heads: { source_sha, target_sha } });
  }
  const { merge_request: now } = await reloadMergeRequest(platform.store.db, project, merge_request.id);
  const version = await latestVersion(platform.store.db, now);
  if (version === null || version.state === 'empty' || version.base_commit_sha === null)
    throw cannotBeMerged();
  return { source_sha, target_sha };
};

const isSquashed = ({ found: { project, merge_request }, params }: Merging): boolean => {
  if (project.squash_option === 'always') return true;
  return project.squash_option !== 'never' && (params.squash ?? merge_request.squash === 1);
};

/** null: the commits come as they are; one alone need not be squashed unless it gets another message. */
const squashMessageOf = async (merging: Merging): Promise<string | null> => {
  const { platform, found, params } = merging;
  if (!isSquashed(merging)) return null;
  const version = await latestVersion(platform.store.db, found.merge_request);
  const given = params.squash_commit_message ?? '';
  if (given === '' && version?.commits_count === 1) return null;
  return given === '' ? defaultSquashMessage(found.merge_request) : given;
};

const mergeMessageOf = async ({ platform, found, merger, params, baseUrl }: Merging): Promise<string> => {
  if ((params.merge_commit_message ?? '') !== '') return params.merge_commit_message ?? '';
  const { db } = platform.store;
  const issues = await closingIssues(platform, db, found, baseUrl);
  return defaultMergeMessage(found.merge_request, found.project, await seenBy(db, merger.viewer, issues));
};

/** @returns why there is no commit, where there is none */
const makeCommit = async (merging: Merging, ends: Ends): Promise<Merged | MergeCheck> => {
  const { platform, found, merger } = merging;
  const commit = {
    ...ends,
    merge_message: await mergeMessageOf(merging),
    squash_message: await squashMessageOf(merging),
    merger,
    author: found.merge_request.author,
    now: platform.clock.now(),
  };
  try {
    return (await makeMergeCommit(platform, found.project, commit)) ?? notMergeable;
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return tooLargeToMerge;
    throw error;
  }
};

/** @throws Failure 405 where there are conflicts, it must be rebased first, or the changes are too large */
const build = async (merging: Merging, ends: Ends): Promise<Merged> => {
  const { platform, found } = merging;
  const made = await makeCommit(merging, ends);
  if ('tip' in made) return made;
  if (found.project.merge_method === 'merge') {
    await storeStatus(platform, { ...found.merge_request, head_sha: ends.source_sha }, ends, made);
  }
  throw cannotBeMerged();
};

/** Something changed between the look and the move: look again. */
class Changed extends Error {}

const checkAgain = async (tx: Tx, merging: Merging, { source_sha }: Ends): Promise<void> => {
  const { found, merger } = merging;
  const isFree = await lockUnlessMerging(tx, found.merge_request);
  // Archived, or gone, while this waited for others.
  const project = await loadProject(tx.db, found.project.id);
  if (project === null) throw notFound();
  const now = await reloadMergeRequest(tx.db, project, found.merge_request.id);
  if (!isFree) throw new Changed();
  await requireOpen(tx.db, merger.viewer, now);
  await requireReady(tx.db, now, false);
  const { head_sha, target_branch } = now.merge_request;
  if (head_sha !== source_sha || target_branch !== found.merge_request.target_branch) throw new Changed();
};

/** In whose name the source branch goes: where it was to be for good, of the author, who asked for that. */
const removerOf = ({ found: { merge_request }, merger, params }: Merging): number | null => {
  const { should_remove_source_branch: stored, force_remove_source_branch: isForced } = merge_request;
  const isAsked = params.should_remove_source_branch ?? (stored === null ? undefined : stored === 1);
  if (isAsked === true) return merger.cause.user.id;
  return isAsked === undefined && isForced === 1 ? merge_request.author_id : null;
};

const move = async (merging: Merging, ends: Ends, { tip, squash_commit_sha }: Merged): Promise<void> => {
  const { platform, found, merger } = merging;
  const { merge_request, project } = found;
  const data: MergeData = {
    merge_request_id: merge_request.id,
    merge_commit_sha: tip,
    squash_commit_sha,
    source_sha: ends.source_sha,
    remove_source_as: removerOf(merging),
  };
  await moveRefs(platform, {
    project,
    cause: merger.cause,
    kind: 'merge',
    updates: [{ ref: branchPrefix + merge_request.target_branch, old: ends.target_sha, new: tip }],
    data,
    check: async (tx) => await checkAgain(tx, merging, ends),
    complete: mergeCompletion(platform),
  });
};

/** Far more than others can be quicker, one after another. */
const mostTries = 30;

const isLostRace = (error: unknown): boolean => error instanceof Changed || isGitFailure(error, 'conflict');

/** One merge in progress at a time: waits for another one of this request. */
const settled = async ({ platform, found: { merge_request } }: Merging): Promise<void> =>
  await writeUnlessMerging(platform, merge_request, async () => undefined);

/** @returns whether it is merged: else to be tried again */
const tryMerge = async (merging: Merging): Promise<boolean> => {
  const { platform, found, merger } = merging;
  const { db } = platform.store;
  const now = { ...merging, found: await reloadMergeRequest(db, found.project, found.merge_request.id) };
  await requireOpen(db, merger.viewer, now.found);
  await requireReady(db, now.found, false);
  try {
    const ends = await endsOf(now);
    await move(now, ends, await build(now, ends));
    return true;
  } catch (error) {
    if (!isLostRace(error)) throw error;
    await settled(now);
    return false;
  }
};

/**
 * Merges a request that may be: the caller has asked `requireOpen`.
 * @throws Failure 405, 406, 409
 */
export const acceptMerge = async (merging: Merging): Promise<FoundMergeRequest> => {
  const { platform, found } = merging;
  const { merge_request, project } = found;
  return await inTurn(platform, `merge ${project.id} ${merge_request.target_branch}`, async () => {
    let isDone = false;
    for (let tried = 0; tried < mostTries && !isDone; tried += 1) {
      // oxlint-disable-next-line no-await-in-loop -- each looks at what the one before found changed
      isDone = await tryMerge(merging);
    }
    if (!isDone) throw cannotBeMerged();
    return await reloadMergeRequest(platform.store.db, project, merge_request.id);
  });
};
