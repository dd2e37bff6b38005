/** Measures CPU per request of five calls, compared with a bare server that sends the same bytes. */
import type { MeasuredServer, Bench } from '../bench.ts';
import { measureCosts, medianOf, usualSize } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { type Operation, isWrite, operations } from '../load/checked_requests.ts';
import { type Running, rootToken, startFloor, startService } from '../service.ts';
import type { World } from '../sites/seed_database.ts';

const names = Object.keys(operations) as Operation[];

/** The bare server sends the same answer as the service. */
const floorBodies = async (service: Running, world: World): Promise<{ [path: string]: string }> => {
  const bodyOf = async (operation: Operation): Promise<string> => {
    const [wanted] = operations[operation](world);
    const url = `http://127.0.0.1:${service.port}${wanted?.path}`;
    return await (await fetch(url, { headers: { 'private-token': rootToken } })).text();
  };
  const single = await bodyOf('get');
  return {
    '/list20': await bodyOf('list20'),
    '/list100': await bodyOf('list100'),
    '/get': single,
    '/create': single,
    '/edit': single,
  };
};

const floorOf = (operation: Operation, server: Running, world: World): MeasuredServer => {
  const [{ method, body } = { method: 'GET' as const }] = operations[operation](world);
  const request = { method, path: `/${operation}`, status: 200, ...(body !== undefined && { body }) };
  return { name: `floor of ${operation}`, server, token: 'none', requests: [request] };
};

const group = async (bench: Bench, wanted: Operation[]): Promise<Figure[]> => {
  if (wanted.length === 0) return [];
  const { place: location, world } = await bench.databases.take(usualSize);
  const service = await startService(location);
  const floor = await startFloor(await floorBodies(service, world));
  try {
    const asked = wanted.flatMap((operation) => [
      floorOf(operation, floor, world),
      {
        name: operation,
        server: service,
        token: world.developer.token,
        requests: operations[operation](world),
        databasePids: bench.databasePids,
      },
    ]);
    const costs = await measureCosts(bench, asked);
    return wanted.map((operation) =>
      figure(`${operation}, CPU`, 'µs', costs.get(operation) ?? [], {
        ...bench.goals[operation],
        floor: medianOf(costs, `floor of ${operation}`),
      }),
    );
  } finally {
    await service.stop();
    await floor.stop();
  }
};

const wantedOf = (bench: Bench, writes: boolean): Operation[] =>
  names.filter((operation) => isWrite(operation) === writes && bench.wants(operation));

export const measureReads = async (bench: Bench): Promise<Figure[]> =>
  await group(bench, wantedOf(bench, false));

/** On data of their own: they change the pages whose ids are checked. */
export const measureWrites = async (bench: Bench): Promise<Figure[]> =>
  await group(bench, wantedOf(bench, true));
