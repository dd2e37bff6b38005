/** Updates open requests after a push to their source branch. */
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { maxTitleLength } from '../../../planning/issuables/text/title.ts';
import { isWorkInProgress, markDraft } from '../../../planning/issuables/text/draft_title.ts';
import { workInProgressText } from '../../../planning/issuables/text/system_note_text.ts';
import { addSystemNotes } from '../../../planning/notes/add_system_notes.ts';
import { finishTodos } from '../../../planning/todos/add_todos.ts';
import { getNextUpdateTime } from '../../../platform/time.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { loadBranches, readHeads } from './branch_heads.ts';
import { scheduleChecks } from '../merging/merge_status.ts';
import { type NewVersion, storeNewVersion } from '../versions/new_version.ts';
import { loadRequest, loadOpenFrom } from './open_requests.ts';
import { storeSearchText } from '../../../planning/issuables/search/search.ts';
import type { VersionCommit } from '../versions/json.ts';
import { loadCommitIds } from '../versions/queries.ts';

/** A branch that was updated, created (`isNew`) or deleted (`isGone`). */
export type MovedBranch = {
  project_id: number;
  user_id: number | null;
  branch: string;
  isNew: boolean;
  isGone: boolean;
  moved_at: number;
};

const maxListedCommits = 100;

/** Returns the commits that the previous version did not have, oldest first. */
const findNewCommits = async (tx: Tx, { before, prepared }: NewVersion): Promise<VersionCommit[]> => {
  const { diff_id } = before.merge_request;
  const previousIds = new Set(diff_id === null ? [] : await loadCommitIds(tx.db, diff_id));
  const commits = JSON.parse(prepared.commits) as VersionCommit[];
  return commits.filter(({ id }) => !previousIds.has(id)).toReversed();
};

/** Formats a commit as one item of a Markdown list. */
const line = ({ short_id, title }: VersionCommit): string => `* ${short_id} - ${title}`;

/** Returns the note `added 2 commits` with a list and a comparison link; null without commits. */
const commitsText = ({ before, after }: NewVersion, commits: VersionCommit[]): string | null => {
  if (commits.length === 0) return null;
  const { project, merge_request } = after;
  const more = commits.length - maxListedCommits;
  const query = `diff_id=${merge_request.diff_id}&start_sha=${before.merge_request.head_sha}`;
  const url = `/${project.full_path}/merge_requests/${merge_request.iid}/diffs?${query}`;
  return [
    `added ${commits.length} commit${commits.length === 1 ? '' : 's'}`,
    [...commits.slice(0, maxListedCommits).map(line), ...(more > 0 ? [`* … and ${more} more`] : [])].join(
      '\n',
    ),
    `[Compare with previous version](${url})`,
  ].join('\n\n');
};

/** Returns whether a commit marks unfinished work: `WIP`, `WIP: x`, `[WIP] x`, `fixup! x`, `squash! x`. */
const saysMoreComes = ({ title }: VersionCommit): boolean =>
  /^(?:wip(?:\s|:\s|$)|\[wip\]\s|fixup!\s|squash!\s)/i.test(title);

const draftTitle = (title: string): string =>
  [...markDraft(title, 'WIP: ')].slice(0, maxTitleLength).join('');

/** Adds `WIP:` to the title after a commit of unfinished work. Returns the text of the note; null if unchanged. */
const markDraftAfterPush = async (
  tx: Tx,
  { merge_request: { id, title, description } }: LoadedMergeRequest,
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
  const { id, project_id } = after.merge_request;
  await tx.db
    .updateTable('merge_requests')
    .set({ updated_at: getNextUpdateTime(after.merge_request, tx.now) })
    .where('id', '=', id)
    .execute();
  const commits = await findNewCommits(tx, version);
  const draft = await markDraftAfterPush(tx, after, commits);
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

/** Loads the latest system note about the branch; null if there is none. */
const loadLastNote = async (
  tx: Tx,
  { target }: LoadedMergeRequest,
  texts: string[],
): Promise<string | null> => {
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

/** Adds a note that the branch was deleted or restored. Repeated calls add one note. */
const noteBranch = async (
  platform: Platform,
  moved: MovedBranch,
  loaded: LoadedMergeRequest,
): Promise<void> => {
  const { user_id, branch, isGone } = moved;
  const { gone, back } = branchTexts(branch);
  await platform.store.write(async (tx) => {
    const wasGone = (await loadLastNote(tx, loaded, [gone, back])) === gone;
    if (user_id === null || wasGone === isGone) return;
    await addSystemNotes(tx, user_id, loaded.target, [isGone ? gone : back]);
    // Unless the status was checked since the push.
    await tx.db
      .updateTable('merge_requests')
      .set({ merge_status: 'unchecked', checked_source_sha: null })
      .where('id', '=', loaded.target.id)
      .where('checked_source_sha', isGone ? 'is not' : 'is', null)
      .execute();
  });
};

const refresh = async (platform: Platform, moved: MovedBranch, loaded: LoadedMergeRequest): Promise<void> => {
  const { store } = platform;
  const branches = await loadBranches(store.db, loaded.merge_request, loaded.project);
  const heads = await readHeads(platform, branches);
  if (heads.source_sha !== null && heads.source_sha !== loaded.merge_request.head_sha) {
    const branchesWithHeads = { ...branches, heads, pushed_by_id: moved.user_id };
    await storeNewVersion(platform, loaded, branchesWithHeads, (tx, version) =>
      followPush(tx, moved.user_id, version),
    );
  }
  const { user_id, moved_at } = moved;
  if (user_id !== null)
    await store.write(async (tx) => await finishTodos(tx, user_id, loaded.target, moved_at));
};

/** Stores a new version of every open request from the branch. Idempotent. */
export const refreshSource = async (platform: Platform, moved: MovedBranch): Promise<void> => {
  const { db } = platform.store;
  const requests = await loadOpenFrom(db, moved.project_id, moved.branch);
  for (const request of requests) {
    const loaded = await loadRequest(db, request);
    if (loaded === null) continue;
    if (moved.isGone || moved.isNew) await noteBranch(platform, moved, loaded);
    if (!moved.isGone) await refresh(platform, moved, loaded);
  }
  scheduleChecks(
    platform,
    requests.map(({ id }) => id),
  );
};
