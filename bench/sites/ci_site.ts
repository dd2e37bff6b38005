/** Creates a project whose pipelines are measured, and copies its pipelines in bulk. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Store, Tx } from '../../src/platform/db/open.ts';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { api } from './root_api.ts';
import type { Bench } from '../bench.ts';
import { openLocation } from './databases.ts';
import type { DataLocation } from '../service.ts';
import { bulkInsert } from './seed_database.ts';

export type CiProject = { id: number; path: string };

export const commitFile = async (
  port: number,
  { id }: CiProject,
  file_path: string,
  content: string,
  action: 'create' | 'update' = 'create',
): Promise<void> => {
  const actions = [{ action, file_path, content }];
  await api(port, `POST /projects/${id}/repository/commits`, {
    branch: 'main',
    commit_message: `Change ${file_path}`,
    actions,
  });
};

/** One whose first commit is this configuration. */
export const makeCiProject = async (port: number, name: string, file: string): Promise<CiProject> => {
  const made = await api<{ id: number; path_with_namespace: string }>(port, 'POST /projects', {
    name,
    visibility: 'public',
  });
  const project = { id: made.id, path: made.path_with_namespace };
  await commitFile(port, project, '.gitlab-ci.yml', file);
  return project;
};

/** @returns the token of a new runner of the instance */
export const makeRunner = async (
  port: number,
  attributes: object = { run_untagged: true },
): Promise<string> => {
  const wanted = { runner_type: 'instance_type', ...attributes };
  return (await api<{ token: string }>(port, 'POST /user/runners', wanted)).token;
};

/** Jobs of one stage, as configurations have them. */
export const manyJobs = (count: number, more = ''): string =>
  Array.from(
    { length: count },
    (_none, at) =>
      `job ${at}:\n  stage: test\n${more}  script:\n    - echo "part ${at}"\n    - make part-${at}\n`,
  ).join('\n');

const template = async (store: Store, project_id: number) => {
  const pipeline = await store.db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project_id)
    .orderBy('id')
    .executeTakeFirstOrThrow();
  const { id } = pipeline;
  const stages = await store.db.selectFrom('stages').selectAll().where('pipeline_id', '=', id).execute();
  const jobs = await store.db.selectFrom('jobs').selectAll().where('pipeline_id', '=', id).execute();
  return { pipeline, stages, jobs };
};

type Template = Awaited<ReturnType<typeof template>>;

const lastIds = async ({ db }: Store) => {
  const last = async (table: 'pipelines' | 'stages' | 'jobs'): Promise<number> =>
    (
      await db
        .selectFrom(table)
        .select((is) => is.fn.max('id').as('id'))
        .executeTakeFirstOrThrow()
    ).id;
  return { pipelines: await last('pipelines'), stages: await last('stages'), jobs: await last('jobs') };
};

type Ids = Awaited<ReturnType<typeof lastIds>>;

const waiting = { status: 'pending' } as const;
const untouched = { ...waiting, runner_id: null, system_id: null, token_hash: null, started_at: null };

/** Copies a pipeline with its jobs, all of them pending. */
const copyOf = ({ pipeline, stages, jobs }: Template, ids: Ids) => {
  ids.pipelines += 1;
  const pipeline_id = ids.pipelines;
  const stageIds = new Map(stages.map(({ id }) => [id, (ids.stages += 1)]));
  const copies = jobs.map((job) => ({
    ...job,
    ...untouched,
    id: (ids.jobs += 1),
    pipeline_id,
    stage_id: stageIds.get(job.stage_id) ?? 0,
    seen_at: null,
    finished_at: null,
  }));
  return {
    pipeline: { ...pipeline, ...waiting, id: pipeline_id, iid: pipeline_id + 1_000_000 },
    stages: stages.map((stage) => ({ ...stage, ...waiting, id: stageIds.get(stage.id) ?? 0, pipeline_id })),
    jobs: copies,
    pending: copies.map(({ id, project_id, protected: isProtected, tag_list, created_at }) => ({
      job_id: id,
      project_id,
      protected: isProtected,
      tag_list,
      created_at,
    })),
  };
};

const insertCopies = async (tx: Tx, copies: ReturnType<typeof copyOf>[]): Promise<void> => {
  await bulkInsert(
    tx,
    'pipelines',
    copies.map(({ pipeline }) => pipeline),
  );
  await bulkInsert(
    tx,
    'stages',
    copies.flatMap(({ stages }) => stages),
  );
  await bulkInsert(
    tx,
    'jobs',
    copies.flatMap(({ jobs }) => jobs),
  );
  await bulkInsert(
    tx,
    'pending_jobs',
    copies.flatMap(({ pending }) => pending),
  );
};

const setSequences = async (tx: Tx, ids: Ids): Promise<void> => {
  if (tx.dialect.engine !== 'postgres') return;
  for (const [table, last] of Object.entries(ids))
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(tx.db);
};

/** Does what the service does on creating a pipeline, for all copies at once. The storage has no other repository. */
const writeRefs = (data: string, refs: { id: number; sha: string }[]): void => {
  const found = readdirSync(data, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('.git'),
  );
  if (found === undefined) throw new Error('there is no repository');
  const input = refs.map(({ id, sha }) => `create refs/pipelines/${id} ${sha}\n`).join('');
  execFileSync('git', ['update-ref', '--stdin'], { cwd: join(data, found), env: gitEnvironment(), input });
};

const batch = 20;

/** Copies the project's first pipeline with all jobs pending. The service must not run. */
export const copyPipelines = async (
  bench: Bench,
  location: DataLocation,
  id: number,
  copies: number,
): Promise<void> => {
  const store = await openLocation(location);
  try {
    const from = await template(store, id);
    const ids = await lastIds(store);
    const first = ids.pipelines + 1;
    for (let made = 0; made < copies; made += batch) {
      bench.progress(`pipelines: ${made} of ${copies}`);
      const some = Array.from({ length: Math.min(batch, copies - made) }, () => copyOf(from, ids));
      await store.write(async (tx) => await insertCopies(tx, some));
    }
    await store.write(async (tx) => await setSequences(tx, ids));
    const { sha } = from.pipeline;
    const all = Array.from({ length: copies }, (_none, at) => ({ id: first + at, sha }));
    writeRefs(location.data, all);
  } finally {
    await store.close();
  }
};
