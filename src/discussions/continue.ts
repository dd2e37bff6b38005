/** Discussions of a merge request that go on in a new issue. */
import { type Call, actorOf } from '../access/call.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { ownRow } from '../issuables/own_row.ts';
import type { Target } from '../issuables/target.ts';
import type { Project } from '../projects/find.ts';
import { basicUsersById } from '../users/json.ts';
import { continuedText } from './continued.ts';
import { type Discussion, threadsOf, unresolvedDiscussions } from './queries.ts';
import { storeResolved } from './resolve.ts';
import { mayResolve } from './rules.ts';

export type Continuing = {
  project: Project;
  target: Target;
  discussions: Discussion[];
  /** For the issue's description, where none was given. */
  description: string;
};

const mergeRequest = ownRow('merge_requests');

const targetOf = async ({ db }: Call, projectId: number, iid: number): Promise<Target | null> => {
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
      'created_at',
    ])
    .where('project_id', '=', projectId)
    .where('iid', '=', iid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row === undefined ? null : { type: 'MergeRequest', assignee_ids: [], ...row };
};

/** With all its notes: the open ones alone do not tell where it began. */
const describe = async (
  call: Call,
  { project, target, discussions }: Omit<Continuing, 'description'>,
): Promise<string> => {
  const whole = await threadsOf(
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
 * The open discussions of a merge request that an issue is to go on with; null: the caller sees no such request.
 * @param only id of one of them; one that is not open is none
 */
export const findContinued = async (
  call: Call,
  project: Project,
  iid: number,
  only: string | undefined,
): Promise<Continuing | null> => {
  if (!canSeeMergeRequests(call.viewer, project)) return null;
  const target = await targetOf(call, project.id, iid);
  if (target === null) return null;
  const open = await unresolvedDiscussions(call.db, target);
  const discussions = only === undefined || only === '' ? open : open.filter(({ id }) => id === only);
  const found = { project, target, discussions };
  return { ...found, description: await describe(call, found) };
};

/** What the service notes in a discussion stands within it. */
const noteIn = async (
  tx: Tx,
  authorId: number,
  { target, discussions }: Continuing,
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

/** Resolves the discussions that an issue goes on with, in its transaction, as far as the caller may. */
export const resolveContinued = async (
  tx: Tx,
  call: Call,
  continuing: Continuing,
  issueIid: number,
): Promise<void> => {
  const { project, target, discussions } = continuing;
  if (discussions.length === 0 || !mayResolve(call, { project, target, isVisibleTo: () => true })) return;
  const actor = actorOf(call);
  await mergeRequest.change(tx, target, { updated_at: tx.now });
  const ids = discussions.flatMap(({ notes }) => notes.map(({ id }) => id));
  const body = `created #${issueIid} to continue this discussion`;
  await noteIn(tx, actor.user.id, continuing, body);
  await storeResolved(tx, actor, { target }, { ids, resolved: true });
};
