/** Measures how the cost of the same calls grows with a thousand times the data. */
import { type MeasuredServer, type Bench, type Costs, measureCosts } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { type Operation, operations } from '../load/checked_requests.ts';
import { type Running, startService } from '../service.ts';

const looked: Operation[] = ['list20', 'get', 'create'];

const nameOf = (operation: Operation, size: number): string => `${operation} of ${size}`;

/** Each round of the larger size against the same round of the smallest. */
const ratios = (costs: Costs, operation: Operation, size: number, smallest: number): number[] => {
  const base = costs.get(nameOf(operation, smallest)) ?? [];
  return (costs.get(nameOf(operation, size)) ?? []).map((cost, round) => cost / (base[round] ?? NaN));
};

export const measureGrowth = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('growth')) return [];
  const servers: Running[] = [];
  try {
    const asked: MeasuredServer[] = [];
    for (const size of bench.sizes) {
      const { place: location, world } = await bench.databases.take(size);
      const server = await startService(location);
      servers.push(server);
      const shared = { server, token: world.developer.token, databasePids: bench.databasePids };
      for (const operation of looked) {
        asked.push({ name: nameOf(operation, size), requests: operations[operation](world), ...shared });
      }
    }
    // All of one call, then all of the next: creating changes the pages whose ids are checked.
    const ordered = looked.map((operation) => asked.filter(({ name }) => name.startsWith(`${operation} `)));
    const figures: Figure[] = [];
    for (const [index, operation] of looked.entries()) {
      const costs = await measureCosts(bench, ordered[index] ?? []);
      for (const size of bench.sizes.slice(1)) {
        const rounds = ratios(costs, operation, size, bench.sizes[0] ?? 0);
        figures.push(
          figure(`${operation}, ${size} to ${bench.sizes[0]} issues`, 'times', rounds, bench.goals.growth),
        );
      }
    }
    return figures;
  } finally {
    for (const server of servers) await server.stop();
  }
};
