import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { PipelineRow } from './pipeline_summary.ts';

type Commits = { project_id: number; shas: readonly Oid[] };

const lastPipelines = compiled((db, { project_id, shas }: Commits, { oneOf }) =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', 'in', (from) =>
      from
        .selectFrom('pipelines')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('project_id', '=', project_id)
        .where(oneOf('sha', shas))
        .where('source', '<>', 'parent_pipeline')
        .groupBy('sha'),
    )
    .compile(),
);

/**
 * Loads the latest pipeline of each commit in one query, by commit id. Pipelines that a parent pipeline started do not
 * count. Empty if the caller may not read pipelines.
 */
export const loadLastPipelines = async (
  call: Pick<Call, 'db' | 'viewer' | 'platform'>,
  project: Project,
  shas: readonly Oid[],
): Promise<Map<Oid, PipelineRow>> => {
  if (shas.length === 0 || !may(call.viewer, 'read_pipeline', project)) return new Map();
  const rows = await lastPipelines(call.db, { project_id: project.id, shas });
  return new Map(rows.map((row) => [row.sha, row]));
};

/**
 * Loads the latest pipeline of each project in one query, by project id: pipelines of branches and tags that no parent
 * pipeline started. Omits projects whose pipelines the caller may not read.
 */
export const loadLastPipelinesOfProjects = async (
  call: Pick<Call, 'db' | 'viewer' | 'platform'>,
  projects: readonly Project[],
): Promise<Map<number, PipelineRow>> => {
  const readable = projects.filter((project) => may(call.viewer, 'read_pipeline', project));
  if (readable.length === 0) return new Map();
  const rows = await call.db
    .selectFrom('projects')
    .innerJoin('pipelines', (join) =>
      join.on('pipelines.id', '=', (from) =>
        from
          .selectFrom('pipelines as latest')
          .select('latest.id')
          .whereRef('latest.project_id', '=', 'projects.id')
          .where('latest.source', '<>', 'parent_pipeline')
          .where('latest.merge_request_id', 'is', null)
          .orderBy('latest.id', 'desc')
          .limit(1),
      ),
    )
    .selectAll('pipelines')
    .where(
      call.platform.store.dialect.oneOf(
        'projects.id',
        readable.map(({ id }) => id),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [row.project_id, row]));
};
