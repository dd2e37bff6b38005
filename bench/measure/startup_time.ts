/** Measures the time from the start of the process to its first answer. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, usualSize } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { type DataLocation, startService } from '../service.ts';

const startedIn = async (location: DataLocation, codeCache: string): Promise<number> => {
  const running = await startService(location, { codeCache });
  await running.stop();
  return running.startedIn;
};

const repeated = async (bench: Bench, name: string, once: () => Promise<number>): Promise<number[]> => {
  const waits: number[] = [];
  for (let round = 1; round <= 5; round += 1) {
    bench.progress(`${name}: ${round} of 5`);
    waits.push(await once());
  }
  return waits;
};

export const measureStart = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('start')) return [];
  const { place: location } = await bench.databases.take(usualSize);
  const codeCache = join(location.data, '../code');
  mkdirSync(codeCache);
  const uncompiled = await repeated(bench, 'first start, nothing compiled', async () => {
    rmSync(codeCache, { recursive: true });
    return await startedIn(await bench.databases.empty(), codeCache);
  });
  const first = await repeated(
    bench,
    'first start',
    async () => await startedIn(await bench.databases.empty(), codeCache),
  );
  const later = await repeated(bench, 'later start', async () => await startedIn(location, codeCache));
  return [
    figure('first start, nothing compiled yet', 'ms', uncompiled, bench.goals.firstStart),
    figure('first start', 'ms', first, bench.goals.firstStart),
    figure(`later start (${usualSize})`, 'ms', later, bench.goals.laterStart),
  ];
};
