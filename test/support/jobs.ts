/** Pipelines and their jobs put into the store as they are made of a file, for tests of what is told of them. */
import type { Updateable } from 'kysely';
import type { JobsTable, PipelinesTable } from '../../src/db/schema_ci.ts';
import { advance } from '../../src/pipelines/advance.ts';
import { insertPipeline } from '../../src/pipelines/insert.ts';
import { onBranch, onTag, planOf } from './ci_file.ts';
import type { TestService } from './service.ts';

export type SeededPipeline = {
  id: number;
  project_id: number;
  /** Ids of its jobs, by name. */
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

/** As a push makes one: what may begin waits for a runner. */
export const seedPipeline = async (gantry: TestService, given: PipelineSeed): Promise<SeededPipeline> => {
  const { project, file, ref = 'main', tag = false, user = 1 } = given;
  const { jobs } = await planOf(file, tag ? onTag(ref) : onBranch(ref));
  const { store } = gantry.service.platform;
  const id = await store.write(async (tx) => {
    const made = await insertPipeline(tx, {
      pipeline: {
        project_id: project,
        ref,
        tag: tag ? 1 : 0,
        sha: given.sha ?? '1'.repeat(40),
        before_sha: '0'.repeat(40),
        source: given.merge_request === undefined ? 'push' : 'merge_request_event',
        protected: given.protected === true ? 1 : 0,
        user_id: user,
        merge_request_id: given.merge_request ?? null,
        // Several of one ref, that leave each other alone.
        auto_cancel: 'none',
      },
      jobs,
      timeout: 3600,
    });
    await advance(tx, made);
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

/** Sets columns of a job's row, whatever led there. */
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
