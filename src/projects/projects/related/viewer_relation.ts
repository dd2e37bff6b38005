import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleProjects } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { NotificationLevel } from '../../../platform/db/schema/column_types.ts';
import type { Project } from '../find.ts';

export type ViewerRelation = {
  /** The viewer starred the project. */
  isStarred: boolean;
  notification_level: NotificationLevel;
  /** Number of forks that the viewer sees. */
  forks_count: number;
  /** Number of users whose level for the project is `watch`; at most `maxCountedWatchers + 1`. */
  watchers_count: number;
  /** Number of releases, which is the same for every viewer. */
  releases_count: number;
};

/** More watchers are not counted: the header is on every page of the project. */
export const maxCountedWatchers = 1_000;

type Row = {
  starred: number;
  forked: number;
  level: NotificationLevel | null;
  watchers: number;
  releases: number;
};

const selectRelation = compiled((db, { project_id, user_id }: { project_id: number; user_id: number }) =>
  sql<Row>`select
    case when exists (select 1 from project_stars
      where project_stars.project_id = ${project_id} and project_stars.user_id = ${user_id})
      then 1 else 0 end as starred,
    case when exists (select 1 from projects where forked_from_project_id = ${project_id})
      then 1 else 0 end as forked,
    (select level from notification_settings
      where notification_settings.project_id = ${project_id} and user_id = ${user_id}) as level,
    (select count(*) from (select 1 from notification_settings
      where notification_settings.project_id = ${project_id} and level = 'watch'
      limit ${sql.lit(maxCountedWatchers + 1)}) as counted) as watchers,
    (select count(*) from releases where releases.project_id = ${project_id}) as releases`.compile(db),
);

const countForks = async ({ db, viewer, platform }: Call, id: number): Promise<number> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from projects where projects.forked_from_project_id = ${id}
      and ${visibleProjects(viewer, platform.store.dialect)}`.execute(db);
  return rows[0]?.total ?? 0;
};

/**
 * Loads the viewer's relation to a visible project and what else its header counts. Most projects take one statement.
 */
export const loadViewerRelation = async (
  call: Call,
  { id }: Pick<Project, 'id'>,
): Promise<ViewerRelation> => {
  const [row] = await selectRelation(call.db, { project_id: id, user_id: call.viewer.user_id ?? 0 });
  return {
    isStarred: row?.starred === 1,
    notification_level: row?.level ?? 'global',
    forks_count: row?.forked === 1 ? await countForks(call, id) : 0,
    watchers_count: row?.watchers ?? 0,
    releases_count: row?.releases ?? 0,
  };
};
