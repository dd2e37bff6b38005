/** Measures filtered lists: CPU per request, and the wait for a total that is not cached yet. */
import { type Bench, measureCosts } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { filtered, projectPath } from '../load/checked_requests.ts';
import { type Running, startService } from '../service.ts';
import type { World } from '../sites/seed_database.ts';

const ask = async (
  server: Running,
  world: World,
  path: string,
  init: RequestInit = {},
): Promise<Response> => {
  const headers = { 'private-token': world.developer.token, 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  await response.arrayBuffer();
  return response;
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** An edit makes every cached total of the project old. */
const touch = async (server: Running, world: World, round: number): Promise<void> => {
  const path = `${projectPath(world)}/${world.sample[0]?.iid}`;
  await ask(server, world, path, { method: 'PUT', body: JSON.stringify({ title: `Touched ${round}` }) });
};

const afterChange = async (bench: Bench, server: Running, world: World): Promise<Map<string, number[]>> => {
  const waits = new Map<string, number[]>();
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [name, path] of Object.entries(filtered(world))) {
      bench.progress(`${name}: after a change, round ${round + 1} of ${bench.rounds}`);
      await touch(server, world, round);
      const wait = await timed(async () => await ask(server, world, path));
      waits.getOrInsertComputed(name, () => []).push(wait);
    }
  }
  return waits;
};

const lastPage = async (bench: Bench, server: Running, world: World): Promise<number[]> => {
  const first = await ask(server, world, projectPath(world));
  const path = `${projectPath(world)}?page=${first.headers.get('x-total-pages')}`;
  const waits: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1)
    waits.push(await timed(() => ask(server, world, path)));
  return waits;
};

export const measureFilters = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('filters')) return [];
  const size = bench.sizes.at(-1) ?? 0;
  const { place: location, world } = await bench.databases.take(size);
  const server = await startService(location);
  try {
    const shared = { server, token: world.developer.token, databasePids: bench.databasePids };
    const asked = Object.entries(filtered(world)).map(([name, path]) => ({
      ...shared,
      name,
      requests: [{ method: 'GET' as const, path, status: 200 }],
    }));
    const costs = await measureCosts({ ...bench, seconds: bench.seconds / 2 }, asked);
    const waits = await afterChange(bench, server, world);
    return [
      ...asked.map(({ name }) =>
        figure(`${name} (${size}), CPU`, 'µs', costs.get(name) ?? [], bench.goals.filtered),
      ),
      ...asked.map(({ name }) =>
        figure(`${name} (${size}), after a change`, 'ms', waits.get(name) ?? [], bench.goals.firstTotal),
      ),
      figure(`last page (${size})`, 'ms', await lastPage(bench, server, world), bench.goals.lastPage),
    ];
  } finally {
    await server.stop();
  }
};
