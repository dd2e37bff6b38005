import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { allOf, anyOf, canSeeMergeRequests, hasFeature, visibleIssuesIn } from '../../core/access/visible.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import type { Project } from '../../projects/projects/find.ts';
import { readMany } from '../issuables/lists/run_long_read.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { NoteRow } from './note_row.ts';
import { visibleNotes } from './visible.ts';

type TargetKey = { type: NoteableType; id: number };

/** Values of `activity_filter`. */
export const activityFilters = ['all_notes', 'only_comments', 'only_activity'] as const;

export type ActivityFilter = (typeof activityFilters)[number];

export type NoteOrder = {
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
  activity_filter: ActivityFilter;
};

/** The viewer who reads the notes, and the database handle. */
export type NoteReader = { db: Reader; viewer: Viewer };

const selectNotes = ({ db, viewer }: NoteReader, { type, id }: TargetKey) =>
  db
    .selectFrom('notes')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where(visibleNotes(db, viewer));

export const listNotes = async (
  reader: NoteReader,
  target: TargetKey,
  { order_by, sort, activity_filter }: NoteOrder,
  { limit, offset }: PageRequest,
): Promise<Page<NoteRow>> => {
  const all = selectNotes(reader, target);
  const query =
    activity_filter === 'all_notes'
      ? all
      : all.where('system', '=', activity_filter === 'only_activity' ? 1 : 0);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy(order_by, sort).orderBy('id', sort).limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Loads a note of this target; 404 if the viewer may not see it. */
export const findNote = async (reader: NoteReader, target: TargetKey, id: number): Promise<NoteRow> => {
  const note = await selectNotes(reader, target).selectAll().where('id', '=', id).executeTakeFirst();
  if (note === undefined) throw notFound();
  return note;
};

/** Over `notes` of a project: on issues and merge requests that the viewer sees. */
const onVisibleTargets = (viewer: Viewer, project: Project): RawBuilder<boolean> | null => {
  const conditions = [
    ...(hasFeature(viewer, project, 'issues_access_level')
      ? [
          sql<boolean>`(notes.target_type = 'Issue' and exists (select 1 from issues
            where issues.id = notes.target_id and ${visibleIssuesIn(viewer, project)}))`,
        ]
      : []),
    ...(canSeeMergeRequests(viewer, project)
      ? [
          sql<boolean>`(notes.target_type = 'MergeRequest' and exists (select 1 from merge_requests
            where merge_requests.id = notes.target_id and merge_requests.deleted_at is null))`,
        ]
      : []),
  ];
  return conditions.length === 0 ? null : anyOf(conditions);
};

export type FoundNote = NoteRow & { target_iid: number };

/** Lists the visible comments on issues and merge requests of a project that contain a text, by age. */
export const searchNotes = async (
  call: Call,
  project: Project,
  { search, sort }: { search: string; sort: 'asc' | 'desc' },
  { limit, offset }: PageRequest,
): Promise<Page<FoundNote>> => {
  const onTargets = onVisibleTargets(call.viewer, project);
  if (onTargets === null) return { items: [], total: 0 };
  const from = sql`from notes where ${allOf([
    sql<boolean>`notes.project_id = ${project.id}`,
    sql<boolean>`notes.system = 0`,
    containsText('notes.body', search),
    onTargets,
    visibleNotes(call.db, call.viewer),
  ])}`;
  const [items, counted] = await Promise.all([
    readMany(call, {
      query: sql<FoundNote>`select notes.*, case notes.target_type
          when 'Issue' then (select iid from issues where id = notes.target_id)
          else (select iid from merge_requests where id = notes.target_id) end as target_iid
        ${from} order by notes.id ${sql.raw(sort)} limit ${limit} offset ${offset}`,
      maxRecords: null,
    }),
    readMany(call, { query: sql<{ total: number }>`select count(*) as total ${from}`, maxRecords: null }),
  ]);
  return { items, total: counted[0]?.total ?? 0 };
};
