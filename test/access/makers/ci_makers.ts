/** Inserts pipelines and jobs for the matrix. */
import type { JobStatus } from '../../../src/platform/db/schema/ci.ts';
import { toFlag } from '../../../src/platform/db/schema/column_types.ts';
import { plannedJob } from '../../support/ci/ci_file.ts';
import { unique } from '../../support/seed.ts';
import { type Cell, type Maker, projectOf, nameAll } from './makers.ts';
import { insertAll } from './bulk_rows.ts';

const planned = async (): Promise<object> => {
  const { position: _place, ...job } = await plannedJob('job: { script: make }');
  return job;
};

let pipelines = 0;

type Made = {
  status: JobStatus;
  /** The default branch, to which only masters may push. */
  held?: boolean;
  /** Of the job. */
  manual?: boolean;
  /** A job that starts another pipeline. */
  bridge?: boolean;
};

const configsFor: (tx: Parameters<Maker>[0], cells: Cell[]) => Promise<Map<number, number>> = async (
  tx,
  cells,
) => {
  const projects = [...new Set(cells.map(projectOf))];
  const config = JSON.stringify(await planned());
  const rows = projects.map((project_id) => ({ project_id, digest: unique('digest'), config }));
  const ids = await insertAll(tx, 'job_configs', rows);
  return new Map(projects.map((project, at) => [project, ids[at] ?? 0]));
};

/** A pipeline of its own with one job. */
export const freshJob =
  ({ status, held = false, manual = false, bridge = false }: Made): Maker =>
  async (tx, cells, { people }) => {
    const ref = held ? 'main' : 'topic';
    const times = { created_at: tx.now, updated_at: tx.now };
    const ended = ['success', 'failed', 'canceled'].includes(status) ? tx.now : null;
    const common = { ref, tag: 0 as const, protected: toFlag(held), user_id: people.writer, status };
    const ofPipeline = {
      sha: '1'.repeat(40),
      before_sha: '0'.repeat(40),
      source: 'push' as const,
      merge_request_id: null,
      name: null,
      yaml_errors: null,
      failure_reason: null,
      started_at: null,
      finished_at: ended,
      duration: null,
    };
    const made = await insertAll(
      tx,
      'pipelines',
      cells.map((cell) => ({
        ...common,
        ...ofPipeline,
        ...times,
        project_id: projectOf(cell),
        // Far from the ids that the service assigns.
        iid: 1_000_000 + (pipelines += 1),
      })),
    );
    nameAll(cells, 'pipeline_id', made);
    const stages = await insertAll(
      tx,
      'stages',
      made.map((pipeline_id) => ({ pipeline_id, name: 'test', position: 2, status })),
    );
    const configs = await configsFor(tx, cells);
    const jobs = cells.map((cell, at) => ({
      ...common,
      ...times,
      project_id: projectOf(cell),
      pipeline_id: made[at] ?? 0,
      stage_id: stages[at] ?? 0,
      config_id: configs.get(projectOf(cell)) ?? 0,
      stage: 'test',
      stage_position: 2,
      name: 'job',
      run_when: manual ? ('manual' as const) : ('on_success' as const),
      allow_failure: toFlag(manual),
      bridge: toFlag(bridge),
      queued_at: tx.now,
      finished_at: ended,
    }));
    nameAll(cells, 'job_id', await insertAll(tx, 'jobs', jobs));
  };
