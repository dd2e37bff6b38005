/** Measures latency at a fixed rate, from the time at which each request was due, even if it was sent late. */
import { type Bench, usualSize } from '../bench.ts';
import { type Figure, figure, percentile } from '../measured_figures.ts';
import { type Operation, operations } from '../load/checked_requests.ts';
import { startService } from '../service.ts';

/** Requests per second: well below the capacity of a core, so that the latency contains no queueing. */
const rates: { [O in Operation]: number } = { list20: 500, list100: 150, get: 1000, create: 250, edit: 250 };

export const measureLatency = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('latency')) return [];
  const { place: location, world } = await bench.databases.take(usualSize);
  const service = await startService(location);
  const figures: Figure[] = [];
  try {
    for (const operation of Object.keys(rates) as Operation[]) {
      const rate = rates[operation];
      const job = {
        port: service.port,
        token: world.developer.token,
        requests: operations[operation](world),
      };
      await bench.loader.run({ kind: 'open', job, rate, seconds: 1 });
      const outcomes: number[][] = [];
      for (let round = 1; round <= bench.rounds; round += 1) {
        bench.progress(`latency of ${operation} at ${rate}/s: round ${round} of ${bench.rounds}`);
        outcomes.push(
          (await bench.loader.run({ kind: 'open', job, rate, seconds: bench.seconds })).latencies,
        );
      }
      for (const share of [0.5, 0.9, 0.99]) {
        const rounds = outcomes.map((latencies) => percentile(latencies, share));
        figures.push(figure(`${operation} at ${rate}/s, p${share * 100}`, 'ms', rounds));
      }
    }
  } finally {
    await service.stop();
  }
  return figures;
};
