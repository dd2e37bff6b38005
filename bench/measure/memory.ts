/** Measures the memory of the service, gitd and runner ten seconds after their start, and after a load of all calls. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Bench, connections, usualSize } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { memoryOf } from '../process_usage.ts';
import { get, operations } from '../load/checked_requests.ts';
import { startService } from '../service.ts';
import type { World } from '../sites/seed_database.ts';

const requests = 60_000;

/** Per thousand requests: mostly reads, as clients send them. The ids of lists are not checked: they change. */
const mixed = (world: World) => {
  const [list20, list100] = [operations.list20(world), operations.list100(world)].map(([one]) => ({
    ...one!,
    ids: undefined,
  }));
  const gets = get(world).slice(0, 60);
  const plain = [...Array.from({ length: 20 }, () => list20!), ...Array.from({ length: 5 }, () => list100!)];
  const all = [
    ...gets,
    ...plain,
    ...operations.create(world).slice(0, 5),
    ...operations.edit(world).slice(60, 70),
  ];
  return all.map(({ ids: _ids, ...wanted }) => wanted);
};

export const measureMemory = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('memory')) return [];
  const { place: location, world } = await bench.databases.take(usualSize);
  const server = await startService(location, { environment: { GANTRY_RUNNER_EXECUTOR: 'shell' } });
  try {
    bench.progress('memory: ten seconds at rest');
    await wait(10_000);
    const atRest = memoryOf(server.pid);
    bench.progress(`memory: ${requests} requests`);
    const job = { port: server.port, token: world.developer.token, requests: mixed(world) };
    await bench.loader.run({ kind: 'count', job, connections, requests });
    bench.progress('memory: five seconds at rest');
    await wait(5_000);
    const afterLoad = memoryOf(server.pid);
    return [
      figure('memory at rest', 'MB', [atRest.rss], bench.goals.memoryAtRest),
      figure('memory at rest, shared pages split', 'MB', [atRest.pss], bench.goals.memorySplitAtRest),
      figure(`memory after ${requests} requests`, 'MB', [afterLoad.rss], bench.goals.memoryAfterLoad),
      figure(
        'memory after them, shared pages split',
        'MB',
        [afterLoad.pss],
        bench.goals.memorySplitAfterLoad,
      ),
    ];
  } finally {
    await server.stop();
  }
};
