/**
 * Figures of background work, as clients ask GitLab for those of Sidekiq. A queue is a kind of work. Finished work and
 * processes are not counted.
 */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { anything, array, int, object } from '../../platform/http/schema.ts';
import { type WorkFigures, loadWorkFigures } from '../../platform/queue/inspect_work.ts';

const parts = {
  queues: anything,
  processes: array(anything),
  jobs: object({ processed: int, failed: int, enqueued: int }),
};

type Part = keyof typeof parts;

const sum = (figures: readonly WorkFigures[], count: 'waiting' | 'running' | 'failed'): number =>
  figures.reduce((total, one) => total + one[count], 0);

/** Latency: seconds since the oldest piece became due. */
const toQueue = ({ name, waiting, oldest }: WorkFigures, now: number) => [
  name,
  { backlog: waiting, latency: oldest === null ? 0 : Math.floor(Math.max(0, now - oldest) / 1000) },
];

const loadFigures = async ({ db, now }: Call) => {
  const figures = await loadWorkFigures(db, now);
  return {
    queues: Object.fromEntries(figures.map((one) => toQueue(one, now))) as object,
    processes: [],
    jobs: { processed: 0, failed: sum(figures, 'failed'), enqueued: sum(figures, 'waiting') },
  };
};

const declare = (word: string, title: string, names: readonly Part[]) =>
  endpoint({
    method: 'GET',
    path: `/sidekiq/${word}`,
    summary: `Get ${title} of background work (administrators)`,
    area: 'instance',
    audience: 'admin',
    params: object({}),
    reply: object(Object.fromEntries(names.map((name) => [name, parts[name]]))),
    handle: async (call) => await loadFigures(call),
  });

export const sidekiqRoutes = [
  declare('queue_metrics', 'the backlog and latency by kind', ['queues']),
  declare('process_metrics', 'an empty list of processes', ['processes']),
  declare('job_stats', 'the number of failed and waiting pieces', ['jobs']),
  declare('compound_metrics', 'all figures', ['queues', 'processes', 'jobs']),
];
