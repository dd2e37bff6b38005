/** Which artifacts are there for those who ask: what has expired is gone at once, whenever its bytes go. */
import { type RawBuilder, sql } from 'kysely';

/** Of the newest pipeline of its branch or tag that succeeded, in a project that keeps those. */
const isNewest = sql<boolean>`exists (
  select 1 from jobs
  join pipelines on pipelines.id = jobs.pipeline_id
  join projects on projects.id = jobs.project_id
  where jobs.id = artifacts.job_id and projects.keep_latest_artifact = 1 and pipelines.status = 'success'
    and not exists (
      select 1 from pipelines as newer
      where newer.project_id = pipelines.project_id and newer.ref = pipelines.ref
        and newer.status = 'success' and newer.id > pipelines.id and newer.tag = pipelines.tag
        -- A part of the same one takes nobody's place, nor does one that has no jobs.
        and newer.source not in ('parent_pipeline', 'external')
    )
)`;

/** A condition on the table `artifacts`. */
export const isKept = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(artifacts.expire_at is null or artifacts.expire_at > ${now} or ${isNewest})`;

/** Those that may go. */
export const isOver = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(artifacts.expire_at <= ${now} and not ${isNewest})`;
