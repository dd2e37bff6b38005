/** Measures CPU per request of merge requests: lists and single ones among 100,000, and one with a repository. */
import { type MeasuredServer, type Bench, measureCosts, usualSize } from '../bench.ts';
import { openLocation } from '../sites/databases.ts';
import { type Figure, figure } from '../measured_figures.ts';
import type { Goals } from '../goals.ts';
import { fillMergeRequests, makeWithCode } from '../sites/merge_requests.ts';
import { type DataLocation, rootToken, startService } from '../service.ts';
import type { World } from '../sites/seed_database.ts';
import { measureMerges } from './merges.ts';

const fill = async (bench: Bench, location: DataLocation, world: World) => {
  bench.progress(`merge requests: making ${usualSize}`);
  const store = await openLocation(location);
  try {
    return await fillMergeRequests(store, world, usualSize);
  } finally {
    await store.close();
  }
};

type Measured = MeasuredServer & { goal: keyof Goals };

export const measureMergeRequests = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('requests')) return [];
  // Few issues: they are not measured here.
  const { place: location, world } = await bench.databases.take(bench.sizes[0] ?? usualSize);
  const { newest, merged } = await fill(bench, location, world);
  const server = await startService(location);
  try {
    const { path, iid } = await makeWithCode(server.port);
    const shared = { server, databasePids: bench.databasePids, token: rootToken };
    const many = { ...shared, token: world.developer.token };
    const own = `/api/v4/projects/${world.project_id}/merge_requests`;
    const get = { method: 'GET', status: 200 } as const;
    const ids = newest.slice(0, 20).map(({ id }) => id);
    const singles = merged.map((one) => ({ ...get, path: `${own}/${one.iid}`, iid: one.iid }));
    const asked: Measured[] = [
      {
        ...many,
        name: 'merge requests, list of 20',
        goal: 'requestList',
        requests: [{ ...get, path: own, ids }],
      },
      { ...many, name: 'merge request', goal: 'requestGet', requests: singles },
      // Each request reads the heads of its branches from the repository.
      { ...shared, name: 'merge request, open', goal: 'requestGet', requests: [{ ...get, path, iid }] },
      {
        ...shared,
        name: 'changes of 50 files',
        goal: 'requestChanges',
        requests: [{ ...get, path: `${path}/changes`, iid }],
      },
      {
        ...shared,
        name: 'commits of a merge request',
        goal: 'requestCommits',
        requests: [{ ...get, path: `${path}/commits` }],
      },
    ];
    const costs = await measureCosts(bench, asked);
    const figures = asked.map(({ name, goal }) =>
      figure(`${name}, CPU`, 'µs', costs.get(name) ?? [], bench.goals[goal]),
    );
    return [...figures, ...(await measureMerges(bench, server.port))];
  } finally {
    await server.stop();
  }
};
