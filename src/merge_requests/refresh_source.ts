/** What a push to its source branch does to an open request. */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { longestTitle } from '../issuables/title.ts';
import { isWorkInProgress } from '../issuables/title_state.ts';
import { workInProgressText } from '../issuables/system_note_text.ts';
import { addSystemNotes } from '../notes/system.ts';
import { finishTodos } from '../todos/add.ts';
import { notDeferred } from './deferred.ts';
import type { FoundMergeRequest } from './find.ts';
import { branchesOf, readHeads } from './heads.ts';
import { scheduleChecks } from './merge_status.ts';
import { type NewVersion, storeNewVersion } from './new_version.ts';
import { loadRequest, openFrom } from './open_requests.ts';
import { storeSearchText } from '../issuables/search.ts';
import type { VersionCommit } from './version_json.ts';
import { commitIdsOf } from './version_queries.ts';

/** A branch that was pushed to, made (`isNew`) or deleted (`isGone`). */
export type MovedBranch = {
  project_id: number;
  user_id: number | null;
  branch: string;
  isNew: boolean;
  isGone: boolean;
};

const mostListed = 100;

/** What the version has that the one before had not, oldest first. */
const newCommitsOf = async (tx: Tx, { before, prepared }: NewVersion): Promise<VersionCommit[]> => {
  const { diff_id } = before.merge_request;
  const known = new Set(diff_id === null ? [] : await commitIdsOf(tx.db, diff_id));
  const commits = JSON.parse(prepared.commits) as VersionCommit[];
  return commits.filter(({ id }) => !known.has(id)).toReversed();
};

/** Without what would make a list or a link of it. */
const line = ({ short_id, title }: VersionCommit): string => `* ${short_id} - ${title}`;

/** `added 2 commits`, a list of them, and a link to what they changed; null for none. */
const commitsText = ({ before, after }: NewVersion, commits: VersionCommit[]): string | null => {
  if (commits.length === 0) return null;
  const { project, merge_request } = after;
  const more = commits.length - mostListed;
  const query = `diff_id=${merge_request.diff_id}&start_sha=${before.merge_request.head_sha}`;
  const url = `/${project.full_path}/merge_requests/${merge_request.iid}/diffs?${query}`;
  return [
    `added ${commits.length} commit${commits.length === 1 ? '' : 's'}`,
    [...commits.slice(0, mostListed).map(line), ...(more > 0 ? [`* … and ${more} more`] : [])].join('\n'),
    `[Compare with previous version](${url})`,
  ].join('\n\n');
};

/** A commit that says that more is to come: `WIP`, `WIP: x`, `[WIP] x`, `fixup! x`, `squash! x`. */
const saysMoreComes = ({ title }: VersionCommit): boolean =>
  /^(?:wip(?:\s|:\s|$)|\[wip\]\s|fixup!\s|squash!\s)/i.test(title);

const draftTitle = (title: string): string => [...`WIP: ${title}`].slice(0, longestTitle).join('');

/** @returns the note on it; null: the title stays */
const markDraft = async (
  tx: Tx,
  { merge_request: { id, title, description } }: FoundMergeRequest,
  commits: VersionCommit[],
): Promise<string | null> => {
  const reason = isWorkInProgress(title) ? undefined : commits.find(saysMoreComes);
  if (reason === undefined) return null;
  const marked = draftTitle(title);
  await tx.db.updateTable('merge_requests').set({ title: marked }).where('id', '=', id).execute();
  await storeSearchText(tx, 'MergeRequest', { id, title: marked, description }, false);
  return `${workInProgressText(title, marked)} from ${reason.id}`;
};

const followPush = async (tx: Tx, userId: number | null, version: NewVersion): Promise<void> => {
  const { before, after } = version;
  const { id, project_id, updated_at } = after.merge_request;
  await tx.db
    .updateTable('merge_requests')
    .set({ ...notDeferred, updated_at: Math.max(updated_at + 1, tx.now) })
    .where('id', '=', id)
    .execute();
  const commits = await newCommitsOf(tx, version);
  const draft = await markDraft(tx, after, commits);
  if (userId !== null) await addSystemNotes(tx, userId, after.target, [commitsText(version, commits), draft]);
  const cause = userId === null ? null : { user: { id: userId }, sudo_by_id: null };
  await recordEvent(tx, cause, {
    kind: 'merge_request.pushed',
    project_id,
    target_type: 'MergeRequest',
    target_id: id,
    data: { sha: [before.merge_request.head_sha, after.merge_request.head_sha] },
  });
};

const branchTexts = (branch: string) => ({
  gone: `deleted source branch \`${branch}\``,
  back: `restored source branch \`${branch}\``,
});

/** What was last said of the branch; null: nothing. */
const lastSaid = async (tx: Tx, { target }: FoundMergeRequest, texts: string[]): Promise<string | null> => {
  const row = await tx.db
    .selectFrom('notes')
    .select('body')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', target.id)
    .where('system', '=', 1)
    .where('body', 'in', texts)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.body ?? null;
};

/** Notes that the branch went, or came back: once, however often it is told. */
const noteBranch = async (
  platform: Platform,
  moved: MovedBranch,
  found: FoundMergeRequest,
): Promise<void> => {
  const { user_id, branch, isGone } = moved;
  const { gone, back } = branchTexts(branch);
  await platform.store.write(async (tx) => {
    const wasGone = (await lastSaid(tx, found, [gone, back])) === gone;
    if (user_id === null || wasGone === isGone) return;
    await addSystemNotes(tx, user_id, found.target, [isGone ? gone : back]);
    // Unless it was looked at since.
    await tx.db
      .updateTable('merge_requests')
      .set({ merge_status: 'unchecked' })
      .where('id', '=', found.target.id)
      .where('checked_source_sha', isGone ? 'is not' : 'is', null)
      .execute();
  });
};

const refresh = async (platform: Platform, moved: MovedBranch, found: FoundMergeRequest): Promise<void> => {
  const { store } = platform;
  const branches = await branchesOf(store.db, found.merge_request, found.project);
  const heads = await readHeads(platform, branches);
  if (heads.source_sha !== null && heads.source_sha !== found.merge_request.head_sha) {
    const wanted = { ...branches, heads };
    await storeNewVersion(platform, found, wanted, (tx, version) => followPush(tx, moved.user_id, version));
  }
  const { user_id } = moved;
  if (user_id !== null) await store.write(async (tx) => await finishTodos(tx, user_id, found.target));
};

/** Every open request from the branch gets a version of what it has now. May be done twice. */
export const refreshSource = async (platform: Platform, moved: MovedBranch): Promise<void> => {
  const { db } = platform.store;
  const requests = await openFrom(db, moved.project_id, moved.branch);
  for (const request of requests) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const found = await loadRequest(db, request);
    if (found === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    if (moved.isGone || moved.isNew) await noteBranch(platform, moved, found);
    // oxlint-disable-next-line no-await-in-loop
    if (!moved.isGone) await refresh(platform, moved, found);
  }
  scheduleChecks(
    platform,
    requests.map(({ id }) => id),
  );
};
