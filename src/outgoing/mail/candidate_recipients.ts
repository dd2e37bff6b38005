/** Finds the users whom a change may concern, in batches by id. */
import { type RawBuilder, sql } from 'kysely';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { isCurrentMember } from '../../projects/members/queries.ts';
import type { Store } from '../../platform/db/open.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import { type Reason, reasons } from './levels.ts';
import { invitedGroups } from '../../identity/groups/group_links.ts';
import type { MailCause } from './observe.ts';

export type Candidate = { user_id: number; reason: Reason };

/** Candidates of one batch. */
export const maxCandidates = 200;

type Place = { id: number; namespace_id: number };

/** The project of a change, and the time at which roles count. */
type About = { project: Place; now: number };

const readIds = (text: string): number[] => (text === '' ? [] : text.split(',').map(Number));

type Select = [Reason, RawBuilder<unknown>];

/** Users whom the change itself names. */
const namedUsers = ({ assigned, requested, mentioned }: MailCause, dialect: SqlDialect): Select[] => {
  const listed = (ids: string) =>
    sql`select id as user_id from users where ${dialect.oneOf('id', readIds(ids))}`;
  return [
    ['mentioned', listed(mentioned)],
    ['assigned', listed(assigned)],
    ['review_requested', listed(requested)],
  ];
};

/** Tables of the records with participants, by type. */
const recordTables = { Issue: 'issues', MergeRequest: 'merge_requests', Snippet: 'snippets' } as const;

type RecordType = keyof typeof recordTables;

type RecordCause = MailCause & { target_type: RecordType };

const isRecordType = (type: string): type is RecordType => type in recordTables;

/** Participants and subscribers of a record, and for a new record, subscribers of its labels. */
const followers = ({ kind, target_type: type, target_id: id, note_id }: RecordCause): Select[] => {
  const here = sql`target_type = ${type} and target_id = ${id}`;
  const record = sql.table(recordTables[type]);
  const isNew = kind.endsWith('.created') && note_id === null;
  const ofLabels = sql`select user_id from subscriptions where target_type = 'Label' and subscribed = 1
    and target_id in (select label_id from label_links where ${here})`;
  return [
    ['subscribed', sql`select user_id from subscriptions where ${here} and subscribed = 1`],
    ...(isNew ? [['subscribed', ofLabels] satisfies Select] : []),
    ['participating', sql`select author_id as user_id from ${record} where id = ${id}`],
    ['participating', sql`select author_id as user_id from notes where ${here} and system = 0`],
    ['participating', sql`select user_id from award_emoji where ${here}`],
    ['participating', sql`select user_id from mentions where ${here}`],
    [
      'mentioned',
      sql`select user_id from mentions where ${here} and note_id = ${isNew ? 0 : (note_id ?? -1)}`,
    ],
    [isNew ? 'assigned' : 'participating', sql`select user_id from assignees where ${here}`],
    [isNew ? 'review_requested' : 'participating', sql`select user_id from reviewers where ${here}`],
  ];
};

/** Users who commented on the commit of a comment. */
const commenters = (id: number): Select => [
  'participating',
  sql`select author_id as user_id from commit_comments join (select project_id as project, sha as commit_sha
      from commit_comments where id = ${id}) as commented
    on project_id = commented.project and sha = commented.commit_sha`,
];

/**
 * Members of the project, its parent groups and invited groups, and the owner of a personal namespace, except users
 * whose membership has ended.
 */
const selectMembers = ({ id, namespace_id }: Place, now: number): RawBuilder<unknown> => {
  const groups = selectAncestors(namespace_id);
  const isCurrent = isCurrentMember(now);
  return sql`select user_id from members where source_type = 'Project' and source_id = ${id} and ${isCurrent}
    union select user_id from members where source_type = 'Namespace' and source_id in ${groups} and ${isCurrent}
    union select user_id from ${invitedGroups({ type: 'Project', id, namespace_id }, now)} as invited
      join members on source_type = 'Namespace' and source_id = invited.id and ${isCurrent}
    union select owner_id from namespaces where id = ${namespace_id} and owner_id is not null`;
};

/** Users whose level for the project, one of its groups or, as its members, for everything may select any change. */
const watchers = (place: Place, now: number): Select[] => {
  const isListening = sql`level in ('watch', 'custom')`;
  return [
    sql`project_id = ${place.id}`,
    sql`group_id in ${selectAncestors(place.namespace_id)}`,
    sql`project_id is null and group_id is null and user_id in (${selectMembers(place, now)})`,
  ].map((source) => [
    'watching',
    sql`select user_id from notification_settings where ${source} and ${isListening}`,
  ]);
};

const selectsFor = (cause: MailCause, { project, now }: About, dialect: SqlDialect): Select[] => {
  const { target_type } = cause;
  if (target_type === 'Pipeline')
    return [['participating', sql`select user_id from pipelines where id = ${cause.target_id}`]];
  if (target_type === 'Project') return [['member', selectMembers(project, now)]];
  if (target_type === 'CommitComment')
    return [...namedUsers(cause, dialect), commenters(cause.target_id), ...watchers(project, now)];
  if (!isRecordType(target_type)) return watchers(project, now);
  // Edits concern the users they name; new assignees and reviewers also concern watchers.
  if (cause.kind.endsWith('.updated')) {
    const isWatched = cause.assigned !== '' || cause.requested !== '';
    return [...namedUsers(cause, dialect), ...(isWatched ? watchers(project, now) : [])];
  }
  return [...namedUsers(cause, dialect), ...followers({ ...cause, target_type }), ...watchers(project, now)];
};

/**
 * Loads the next candidates after a user id, without the actor. Each has the first of their reasons.
 * @param after the last id of the batch before; 0: none
 */
export const loadCandidates = async (
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  { cause, after, ...about }: About & { cause: MailCause; after: number },
): Promise<Candidate[]> => {
  const ranked = selectsFor(cause, about, dialect).map(
    ([reason, select]) =>
      sql`select user_id, ${sql.lit(reasons.indexOf(reason))} as reason_rank from (${select}) as found`,
  );
  const { rows } = await sql<{ user_id: number; reason_rank: number }>`
    select user_id, min(reason_rank) as reason_rank from (${sql.join(ranked, sql` union all `)}) as candidates
    where user_id > ${after} and user_id <> ${cause.actor_id ?? 0}
    group by user_id order by user_id limit ${maxCandidates}`.execute(db);
  return rows.map(({ user_id, reason_rank }) => ({ user_id, reason: reasons[reason_rank] ?? 'watching' }));
};
