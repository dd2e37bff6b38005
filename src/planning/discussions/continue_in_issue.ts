/** Continues discussions of a merge request in a new issue. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { canSeeMergeRequests } from '../../core/access/visible.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { ownRow } from '../issuables/target_row.ts';
import type { Target } from '../issuables/target.ts';
import type { Project } from '../../projects/projects/find.ts';
import { basicUsersById } from '../../identity/users/json.ts';
import { continuedText } from './continued_text.ts';
import { type Discussion, loadThreads, unresolvedDiscussions } from './queries.ts';
import { storeResolved } from './resolve.ts';
import { mayResolve } from './resolve_and_reply_rules.ts';

export type ContinuedDiscussions = {
  project: Project;
  target: Target;
  discussions: Discussion[];
  /** Default description of the issue. */
  description: string;
};

const mergeRequest = ownRow('merge_requests');

const loadTarget = async ({ db }: Call, projectId: number, iid: number): Promise<Target | null> => {
  const row = await db
    .selectFrom('merge_requests')
    .select([
      'id',
      'iid',
      'project_id',
      'title',
      'author_id',
      'time_estimate',
      'total_time_spent',
      'discussion_locked',
      'created_at',
    ])
    .where('project_id', '=', projectId)
    .where('iid', '=', iid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const discussion_locked = row.discussion_locked === 1;
  return { ...row, type: 'MergeRequest', assignee_ids: [], discussion_locked };
};

/** Builds the default description. Loads whole threads: only these show which note is the first. */
const describe = async (
  call: Call,
  { project, target, discussions }: Omit<ContinuedDiscussions, 'description'>,
): Promise<string> => {
  const whole = await loadThreads(
    call.db,
    target,
    discussions.map(({ id }) => id),
  );
  const items = whole.flatMap(({ notes }) => {
    const open = notes.find((note) => note.resolvable === 1 && note.resolved_at === null);
    return open === undefined ? [] : [{ open, is_first: open === notes[0], others: notes.length - 1 }];
  });
  const authors = await basicUsersById(
    call.db,
    items.map(({ open }) => open.author_id),
  );
  const url = `${call.baseUrl}/${project.full_path}/merge_requests/${target.iid}`;
  const continued = items.map(({ open, ...rest }) => ({
    note_id: open.id,
    author: authors.get(open.author_id)?.username ?? '',
    body: open.body,
    ...rest,
  }));
  return continuedText(`!${target.iid}`, url, continued);
};

/**
 * Finds the open discussions of a merge request that an issue will continue.
 * @param only id of a single discussion; a resolved one matches nothing
 * @returns null if the caller cannot see the merge request
 */
export const findContinued = async (
  call: Call,
  project: Project,
  iid: number,
  only: string | undefined,
): Promise<ContinuedDiscussions | null> => {
  if (!canSeeMergeRequests(call.viewer, project)) return null;
  const target = await loadTarget(call, project.id, iid);
  if (target === null) return null;
  // Everybody who sees the issue would read what was internal.
  const open = (await unresolvedDiscussions(call, target)).filter(({ notes }) => notes[0].internal === 0);
  const discussions = only === undefined || only === '' ? open : open.filter(({ id }) => id === only);
  const continued = { project, target, discussions };
  return { ...continued, description: await describe(call, continued) };
};

/** Adds a system note to each discussion. */
const addNotes = async (
  tx: Tx,
  authorId: number,
  { target, discussions }: ContinuedDiscussions,
  body: string,
): Promise<void> => {
  const rows = discussions.map(({ id, notes: [{ type, position, original_position }] }) => ({
    project_id: target.project_id,
    target_type: target.type,
    target_id: target.id,
    author_id: authorId,
    body,
    system: 1 as const,
    created_at: tx.now,
    updated_at: tx.now,
    discussion_id: id,
    type,
    position,
    original_position,
  }));
  await insertRows(tx.db, 'notes', rows);
};

/** Resolves the continued discussions in the issue's transaction, if the caller may resolve them. */
export const resolveContinued = async (
  tx: Tx,
  call: Call,
  continuing: ContinuedDiscussions,
  issueIid: number,
): Promise<void> => {
  const { project, target, discussions } = continuing;
  if (discussions.length === 0 || !mayResolve(call, { project, target, isVisibleTo: () => true })) return;
  const actor = requireActor(call);
  await mergeRequest.change(tx, target, { updated_at: tx.now });
  const ids = discussions.flatMap(({ notes }) => notes.map(({ id }) => id));
  const body = `created #${issueIid} to continue this discussion`;
  await addNotes(tx, actor.user.id, continuing, body);
  await storeResolved(tx, actor, { target }, { ids, resolved: true });
};
