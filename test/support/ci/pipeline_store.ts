/** Pipelines in a store without a service, built from the text of a file and advanced by the test. */
import type { Store, Tx } from '../../../src/platform/db/open.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { advancePipeline } from '../../../src/ci/pipelines/processing/advance_pipeline.ts';
import { type NewPipeline, insertPipeline } from '../../../src/ci/pipelines/creation/insert_pipeline.ts';
import { finishJob, startJob } from '../../../src/ci/pipelines/processing/job_transitions.ts';
import type { Job, Pipeline } from '../../../src/ci/pipelines/pipeline_rows.ts';
import { insertUser } from '../../../src/identity/users/create.ts';
import { planPipeline } from './ci_file.ts';
import { type TestStore, openTestStore } from '../databases/store.ts';

export type PipelineStore = TestStore & {
  user: number;
  project: number;
  write: Store['write'];
  /** Removes the waiting work of this name and returns the ids in it. */
  takeWork: (name: string) => Promise<Record<string, unknown>[]>;
  /** Creates a pipeline and starts it. */
  begin: (file: string, overrides?: Partial<NewPipeline['pipeline']>) => Promise<number>;
  pipeline: (id: number) => Promise<Pipeline>;
  /** All jobs of the pipeline, including retried ones, oldest first. */
  jobs: (id: number) => Promise<Job[]>;
  /** The newest job of that name. */
  job: (id: number, name: string) => Promise<Job>;
  /** `build: success, test: pending` for the current jobs, in order. */
  states: (id: number) => Promise<string>;
  queued: () => Promise<number[]>;
  start: (id: number, ...names: string[]) => Promise<void>;
  /** Starts and ends jobs. */
  run: (id: number, ends: Record<string, 'success' | 'failed'>) => Promise<void>;
};

const insertProject = async (tx: Tx, user: number): Promise<number> => {
  const namespace = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', user)
    .executeTakeFirstOrThrow();
  const { id } = await tx.db
    .insertInto('projects')
    .values({
      namespace_id: namespace.id,
      path: 'project',
      full_path: 'somebody/project',
      name: 'project',
      description: null,
      visibility: 'private',
      creator_id: user,
      default_branch: 'main',
      forked_from_project_id: null,
      created_at: tx.now,
      updated_at: tx.now,
      last_activity_at: tx.now,
      deleted_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx.db.insertInto('project_counters').values({ project_id: id }).execute();
  return id;
};

const of = { runner_id: 1, system_id: 's_1', timeout: 3600 };

const reading = ({ store: { db } }: TestStore) => {
  const jobs: PipelineStore['jobs'] = async (id) =>
    await db
      .selectFrom('jobs')
      .selectAll()
      .where('pipeline_id', '=', id)
      .orderBy('stage_position')
      .orderBy('id')
      .execute();
  const job: PipelineStore['job'] = async (id, name) => {
    const found = (await jobs(id)).findLast((one) => one.name === name);
    if (found === undefined) throw new Error(`no job ${name}`);
    return found;
  };
  const states: PipelineStore['states'] = async (id) =>
    (await jobs(id))
      .filter(({ retried }) => retried === 0)
      .map(({ name, status }) => `${name}: ${status}`)
      .join(', ');
  const pipeline: PipelineStore['pipeline'] = async (id) =>
    await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const queued: PipelineStore['queued'] = async () =>
    (await db.selectFrom('pending_jobs').select('job_id').orderBy('job_id').execute()).map(
      ({ job_id }) => job_id,
    );
  return { jobs, job, states, pipeline, queued };
};

const running = ({ store }: TestStore, { job }: Pick<PipelineStore, 'job'>) => {
  const start = async (id: number, ...names: string[]): Promise<void> => {
    for (const name of names) {
      const found = await job(id, name);
      const token_hash = `hash-${found.id}`;
      const started = await store.write(async (tx) => await startJob(tx, found.id, { ...of, token_hash }));
      if (started === null) throw new Error(`${name} was not pending`);
    }
  };
  const run: PipelineStore['run'] = async (id, ends) => {
    await start(id, ...Object.keys(ends));
    for (const [name, status] of Object.entries(ends)) {
      const found = await job(id, name);
      await store.write(async (tx) => await finishJob(tx, found.id, { status, exit_code: 1 }));
    }
  };
  return { start, run };
};

export const sha = (digit: number): string => String(digit).repeat(40);

export const openPipelineStore = async (): Promise<PipelineStore> => {
  const test = await openTestStore();
  const { store } = test;
  await migrate(store);
  const { user, project } = await store.write(async (tx) => {
    const names = { username: 'somebody', name: 'Some Body', email: 'somebody@example.com' };
    const id = await insertUser(tx, null, { ...names, password_hash: null });
    return { user: id, project: await insertProject(tx, id) };
  });
  const begin: PipelineStore['begin'] = async (file, overrides = {}) => {
    const plan = await planPipeline(file);
    const { on_new_commit, on_job_failure } = plan.auto_cancel;
    const pipeline = {
      ...({ project_id: project, ref: 'main', tag: 0, sha: sha(1), before_sha: sha(0) } as const),
      ...({
        source: 'push',
        protected: 0,
        user_id: user,
        auto_cancel: on_new_commit ?? 'conservative',
      } as const),
      ...overrides,
    };
    return await store.write(async (tx) => {
      const cancel_on_failure = on_job_failure === 'all';
      const id = await insertPipeline(tx, { pipeline, jobs: plan.jobs, timeout: 3600, cancel_on_failure });
      await advancePipeline(tx, id);
      return id;
    });
  };
  const takeWork: PipelineStore['takeWork'] = async (name) => {
    const rows = await store.write(
      async ({ db }) => await db.deleteFrom('work').where('name', '=', name).returning('payload').execute(),
    );
    return rows.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
  };
  const reads = reading(test);
  return { ...test, user, project, write: store.write, begin, takeWork, ...reads, ...running(test, reads) };
};
