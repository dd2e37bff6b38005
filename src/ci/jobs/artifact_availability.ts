/**
 * SQL conditions for available and expired artifacts. Expired artifacts are hidden immediately, before their bytes are
 * deleted.
 */
import { type RawBuilder, sql } from 'kysely';

/** Belongs to the latest successful pipeline of its ref, in a project with `keep_latest_artifact`. */
const isLatestKept = sql<boolean>`exists (
  select 1 from jobs
  join pipelines on pipelines.id = jobs.pipeline_id
  join projects on projects.id = jobs.project_id
  where jobs.id = artifacts.job_id and projects.keep_latest_artifact = 1 and pipelines.status = 'success'
    and not exists (
      select 1 from pipelines as newer
      where newer.project_id = pipelines.project_id and newer.ref = pipelines.ref
        and newer.status = 'success' and newer.id > pipelines.id and newer.tag = pipelines.tag
        -- Child and external pipelines do not count as newer.
        and newer.source not in ('parent_pipeline', 'external')
    )
)`;

/** Condition on `artifacts`: not expired, or kept as the latest. */
export const isAvailableArtifact = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(artifacts.expire_at is null or artifacts.expire_at > ${now} or ${isLatestKept})`;

/** Condition on `artifacts`: expired and deletable. */
export const isExpiredArtifact = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(artifacts.expire_at <= ${now} and not ${isLatestKept})`;
