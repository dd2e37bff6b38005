/** Measures the labels of a project with many issues: CPU per request, with and without counts. */
import { type Bench, measureCosts } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { startService } from '../service.ts';

export const measureLabels = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('labels')) return [];
  const size = bench.sizes.at(-1) ?? 0;
  const { place: location, world } = await bench.databases.take(size);
  const server = await startService(location);
  const path = `/api/v4/projects/${world.project_id}/labels`;
  const paths = { labels20: path, 'labels20 with counts': `${path}?with_counts=true` };
  try {
    const measured = Object.entries(paths).map(([name, target]) => ({
      server,
      token: world.developer.token,
      databasePids: bench.databasePids,
      name,
      requests: [{ method: 'GET' as const, path: target, status: 200 }],
    }));
    const costs = await measureCosts({ ...bench, seconds: bench.seconds / 2 }, measured);
    return Object.keys(paths).map((name) =>
      figure(`${name} (${size}), CPU`, 'µs', costs.get(name) ?? [], bench.goals.labels20),
    );
  } finally {
    await server.stop();
  }
};
