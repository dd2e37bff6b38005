/** Some thousand jobs of which nearly all have succeeded, and every way to list them. */
import type { JobStatus } from '../../src/platform/db/schema/ci.ts';
import { setIids } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';
import type { Skewed } from './skewed.ts';

const pipelines = 300;
const jobsOfEach = 10;

const statusAt = (at: number): JobStatus => {
  if (at % 500 === 0) return 'running';
  return at % 50 === 0 ? 'failed' : 'success';
};

/** Answers the id of one of the pipelines. In few large statements: that is not what is measured. */
export const fillJobs = async (gantry: TestService, { project, user }: Skewed): Promise<number> =>
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const common = { project_id: project.id, ref: 'main', tag: 0 as const, protected: 0 as const };
    const times = { created_at: now, updated_at: now, started_at: now, finished_at: now };
    const { id: config_id } = await db
      .insertInto('job_configs')
      .values({ project_id: project.id, digest: 'x', config: '{}' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const made = await db
      .insertInto('pipelines')
      .values(
        Array.from({ length: pipelines }, (_none, at) => ({
          ...common,
          ...times,
          iid: at + 1,
          sha: String(at).padStart(40, '0'),
          before_sha: '0'.repeat(40),
          status: 'success' as const,
          source: 'push' as const,
          user_id: user.id,
          merge_request_id: null,
          name: null,
          yaml_errors: null,
          failure_reason: null,
          duration: 1,
        })),
      )
      .returning('id')
      .execute();
    const stages = await db
      .insertInto('stages')
      .values(
        made.map(({ id }) => ({ pipeline_id: id, name: 'test', position: 2, status: 'success' as const })),
      )
      .returning(['id', 'pipeline_id'])
      .execute();
    const rows = stages.flatMap((stage, pipeline) =>
      Array.from({ length: jobsOfEach }, (_none, at) => ({
        ...common,
        ...times,
        pipeline_id: stage.pipeline_id,
        stage_id: stage.id,
        stage: 'test',
        stage_position: 2,
        name: `job ${at}`,
        status: statusAt(pipeline * jobsOfEach + at),
        run_when: 'on_success' as const,
        allow_failure: 0 as const,
        retried: at % 5 === 0 ? (1 as const) : (0 as const),
        user_id: at % 2 === 0 ? user.id : 1,
        config_id,
      })),
    );
    for (let from = 0; from < rows.length; from += 500) {
      const jobs = await db
        .insertInto('jobs')
        .values(rows.slice(from, from + 500))
        .returning('id')
        .execute();
      const artifact = {
        project_id: project.id,
        file_type: 'archive',
        file_format: 'zip' as const,
        filename: 'artifacts.zip',
        size: 1,
        sha256: '0'.repeat(64),
        expire_at: null,
        created_at: now,
      };
      await db
        .insertInto('artifacts')
        .values(jobs.map(({ id }) => ({ ...artifact, job_id: id })))
        .execute();
    }
    await setIids(db, project.id, { pipeline: pipelines });
    return made.at(-1)?.id ?? 0;
  });

const filters = [
  '',
  'scope=success',
  'scope=running',
  'scope[]=running&scope[]=failed',
  'scope[]=success&scope[]=failed&scope[]=created',
  'scope[]=pending',
];

export const jobListsOf = ({ project }: Skewed, pipeline: number): string[] => {
  const places = [`/projects/${project.id}/jobs?`, `/projects/${project.id}/pipelines/${pipeline}/jobs?`];
  const all = places.flatMap((place) => filters.map((filter) => place + filter));
  return [...all, `${places[1]}include_retried=false`];
};
