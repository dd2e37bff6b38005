/** Inserts a pipeline and its jobs, compiled from a configuration file, directly into the store. */
import type { Updateable } from 'kysely';
import type { JobsTable, PipelinesTable } from '../../../src/platform/db/schema/ci.ts';
import { advancePipeline } from '../../../src/ci/pipelines/processing/advance_pipeline.ts';
import { insertPipeline } from '../../../src/ci/pipelines/creation/insert_pipeline.ts';
import { onBranch, onTag, planPipeline } from './ci_file.ts';
import type { TestService } from '../service.ts';

export type SeededPipeline = {
  id: number;
  project_id: number;
  /** Ids of the jobs by name. */
  jobs: Record<string, number>;
};

export type PipelineSeed = {
  project: number;
  /** The text of `.gitlab-ci.yml`. */
  file: string;
  sha?: string;
  ref?: string;
  tag?: boolean;
  protected?: boolean;
  /** Id of a user. Default: root. */
  user?: number | null;
  merge_request?: number;
};

/** Creates the pipeline as a push does: jobs that can start are pending. */
export const seedPipeline = async (
  gantry: TestService,
  attributes: PipelineSeed,
): Promise<SeededPipeline> => {
  const { project, file, ref = 'main', tag = false, user = 1 } = attributes;
  const { jobs } = await planPipeline(file, tag ? onTag(ref) : onBranch(ref));
  const { store } = gantry.service.platform;
  const id = await store.write(async (tx) => {
    const made = await insertPipeline(tx, {
      pipeline: {
        project_id: project,
        ref,
        tag: tag ? 1 : 0,
        sha: attributes.sha ?? '1'.repeat(40),
        before_sha: '0'.repeat(40),
        source: attributes.merge_request === undefined ? 'push' : 'merge_request_event',
        protected: attributes.protected === true ? 1 : 0,
        user_id: user,
        merge_request_id: attributes.merge_request ?? null,
        // Several pipelines of one ref that do not cancel each other.
        auto_cancel: 'none',
      },
      jobs,
      timeout: 3600,
    });
    await advancePipeline(tx, made);
    return made;
  });
  const rows = await store.db
    .selectFrom('jobs')
    .select(['id', 'name'])
    .where('pipeline_id', '=', id)
    .execute();
  return {
    id,
    project_id: project,
    jobs: Object.fromEntries(rows.map((row) => [row.name, row.id])),
  };
};

/** Sets columns of a job's row without checking transitions. */
export const setJob = async (
  gantry: TestService,
  id: number,
  columns: Updateable<JobsTable>,
): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('jobs').set(columns).where('id', '=', id).execute();
    if (columns.status !== undefined && columns.status !== 'pending') {
      await db.deleteFrom('pending_jobs').where('job_id', '=', id).execute();
    }
  });
};

export const setPipeline = async (
  gantry: TestService,
  id: number,
  columns: Updateable<PipelinesTable>,
): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('pipelines').set(columns).where('id', '=', id).execute();
  });
};
