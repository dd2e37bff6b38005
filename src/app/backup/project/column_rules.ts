/** Rules that convert the columns of a backup's rows for a new project. */
import { hash } from 'node:crypto';
import type { UserMatch } from './match_users.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Record<string, Value>;

/** Where the rows go, and the new ids of the rows that were restored before. */
export type RestoredProject = {
  oldId: number;
  id: number;
  /** New ids by old id, by table. */
  ids: Map<string, Map<number, number>>;
  users: UserMatch;
  /** Author of what unknown users wrote. */
  ghostId: number;
  /** New secrets of uploads by old secret, if another project uses the old secret. */
  uploadSecrets: Map<string, string>;
};

/** Returned by a rule where the row has no place in the new project. */
export const skip = Symbol('skip');

export type Rule = (value: Value, row: Row, project: RestoredProject) => Value | typeof skip;

export const ofProject: Rule = (_value, _row, { id }) => id;
export const cleared: Rule = () => null;
export const zero: Rule = () => 0;

const findUser = (value: Value, { users }: RestoredProject): number | undefined =>
  users.ids.get(Number(value));

/** The user, or the ghost. */
export const author: Rule = (value, _row, project) =>
  value === null ? null : (findUser(value, project) ?? project.ghostId);
/** The user, or nobody. */
export const optionalUser: Rule = (value, _row, project) => findUser(value, project) ?? null;
/** Rows of unknown users are left out. */
export const knownUser: Rule = (value, _row, project) => findUser(value, project) ?? skip;
/** Like `knownUser`, but drops rows of users matched by name only, so that a name alone grants no access. */
export const certainUser: Rule = (value, _row, project) =>
  project.users.certain.has(Number(value)) ? (findUser(value, project) ?? skip) : skip;

const findId = (table: string, value: Value, { ids }: RestoredProject): number | undefined =>
  ids.get(table)?.get(Number(value));

/** The new row; rows that refer to one that was not restored are left out. */
export const rowOf =
  (table: string): Rule =>
  (value, _row, project) =>
    value === null ? null : (findId(table, value, project) ?? skip);
export const optionalRowOf =
  (table: string): Rule =>
  (value, _row, project) =>
    findId(table, value, project) ?? null;

const targetTables: { [type: string]: string } = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Snippet: 'snippets',
  Note: 'notes',
  Label: 'labels',
};

/** Table or kind that `target_type` names. */
export const target: Rule = (value, row, project) =>
  findId(targetTables[String(row['target_type'])] ?? '', value, project) ?? skip;

/** The comment with a mention; 0: the description. */
export const mentioningNote: Rule = (value, row, project) =>
  value === 0 ? 0 : rowOf('notes')(value, row, project);

/** Discussions get other ids, because the original project may still exist. */
export const discussion: Rule = (value, _row, { id }) =>
  value === null ? null : hash('sha1', `project ${id} ${String(value)}`);

/** Mentions from other projects are left out: they are hidden from users who cannot see the source. */
export const mentioningRecord: Rule = (value, row, project) => {
  if (row['mentioned_by_type'] === null) return value;
  if (row['mentioned_by_type'] === 'Commit') return value;
  const table = targetTables[String(row['mentioned_by_type'])] ?? '';
  return findId(table, value, project) ?? skip;
};
export const mentioningProject: Rule = (value, _row, { oldId, id }) => {
  if (value === null) return null;
  return value === oldId ? id : skip;
};

/** Addresses of uploads in texts contain the secret of the upload. */
export const text: Rule = (value, _row, { uploadSecrets }) => {
  if (typeof value !== 'string') return value;
  let replaced = value;
  for (const [old, secret] of uploadSecrets) replaced = replaced.replaceAll(old, secret);
  return replaced;
};
export const uploadSecret: Rule = (value, _row, { uploadSecrets }) =>
  uploadSecrets.get(String(value)) ?? value;

const unfinished = new Set([
  'created',
  'waiting_for_resource',
  'scheduled',
  'preparing',
  'pending',
  'running',
  'canceling',
]);

/** Unfinished work becomes canceled, because no runner has its jobs. */
export const endedStatus: Rule = (value) => (unfinished.has(String(value)) ? 'canceled' : value);
/** An environment that was being stopped still exists. */
export const environmentState: Rule = (value) => (value === 'stopping' ? 'available' : value);
/** A merge in progress was interrupted, so the request is open. */
export const mergeRequestState: Rule = (value) => (value === 'locked' ? 'opened' : value);
export const mergeStatus: Rule = (value, row) => (row['state'] === 'merged' ? value : 'unchecked');
/** Merge requests from forks lose their source, as when a fork is deleted. */
export const sourceProject: Rule = (value, _row, { oldId, id }) => (value === oldId ? id : null);
