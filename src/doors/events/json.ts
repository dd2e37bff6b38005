import type { Call } from '../../core/access/call.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import { zeroOid } from '../../platform/git/protocol_types.ts';
import { bool, int, nullable, object, optional, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { commitNoteShape } from '../../planning/discussions/commits/comments.ts';
import type { ActivityRow } from './list_activities.ts';
import { type LoadedTargets, loadTargets } from './load_targets.ts';

const pushShape = object({
  commit_count: int,
  action: string,
  ref_type: string,
  commit_from: nullable(string),
  commit_to: nullable(string),
  ref: string,
  commit_title: nullable(string),
  ref_count: nullable(int),
});

export const eventShape = object({
  id: int,
  project_id: int,
  action_name: string,
  target_id: nullable(int),
  target_iid: nullable(int),
  target_type: nullable(string),
  author_id: int,
  target_title: nullable(string),
  created_at: timestamp,
  /** For comments only. */
  note: optional(commitNoteShape),
  author: basicUserShape,
  imported: bool,
  imported_from: string,
  /** For pushes only. */
  push_data: optional(pushShape),
  author_username: string,
});

type PushData = {
  ref: string;
  before: string;
  after: string;
  commit_count?: number;
  commit_title?: string | null;
};

const toPushAction = ({ before, after }: PushData): 'created' | 'pushed' | 'removed' => {
  if (after === zeroOid) return 'removed';
  return before === zeroOid ? 'created' : 'pushed';
};

/** Builds the JSON of a push. `commit_count` is 0 until background work has counted. */
const pushJson = (data: PushData) => {
  const [, type = '', ref = data.ref] = /^refs\/(heads|tags)\/(.*)$/s.exec(data.ref) ?? [];
  return {
    commit_count: data.commit_count ?? 0,
    action: toPushAction(data),
    ref_type: type === 'tags' ? 'tag' : 'branch',
    commit_from: data.before === zeroOid ? null : data.before,
    commit_to: data.after === zeroOid ? null : data.after,
    ref,
    commit_title: data.commit_title ?? null,
    ref_count: null,
  };
};

const pushNames = { created: 'pushed new', pushed: 'pushed to', removed: 'deleted' };

/** Names of actions in answers; others are named as they are stored. */
const actionNames: { [action: string]: string } = {
  merged: 'accepted',
  commented: 'commented on',
  reopened: 'opened',
  expired: 'removed due to membership expiration from',
};

const getActionName = ({ action, target_type }: ActivityRow): string => {
  if (action === 'created') return target_type === null ? 'created' : 'opened';
  return actionNames[action] ?? action;
};

const targetJson = (row: ActivityRow, targets: LoadedTargets) => {
  const target = targets.find(row);
  return {
    target_id: row.target_id,
    target_iid: target?.iid ?? null,
    target_type: target?.type ?? (row.target_type === 'CommitComment' ? 'Note' : row.target_type),
    target_title: target?.title ?? null,
  };
};

type Author = Parameters<typeof basicUser>[0];

const eventJson = (call: Call, row: ActivityRow, author: Author, targets: LoadedTargets) => {
  const note = targets.findNote(row);
  const push = row.action === 'pushed' ? pushJson(JSON.parse(row.data) as PushData) : null;
  const { target_title, ...target } = targetJson(row, targets);
  return {
    id: row.id,
    project_id: row.project_id,
    action_name: push === null ? getActionName(row) : pushNames[push.action],
    ...target,
    author_id: row.author_id,
    target_title,
    created_at: formatTime(row.created_at),
    ...(note !== null && { note }),
    author: basicUser(author, call),
    imported: false,
    imported_from: 'none',
    ...(push !== null && { push_data: push }),
    author_username: author.username,
  };
};

export type EventJson = ReturnType<typeof eventJson>;

/** Renders activities in a fixed number of statements. */
export const eventsJson = async (call: Call, rows: readonly ActivityRow[]): Promise<EventJson[]> => {
  const [authors, targets] = await Promise.all([
    basicUsersById(
      call.db,
      rows.map(({ author_id }) => author_id),
    ),
    loadTargets(call, rows),
  ]);
  return rows.flatMap((row) => {
    const author = authors.get(row.author_id);
    return author === undefined ? [] : [eventJson(call, row, author, targets)];
  });
};
