/**
 * Loaded into a service that is measured (`--import`): at SIGUSR2 it writes into the file that BENCH_EVENT_LOOP names
 * by how much its event loop was late since the last time, in ms at the 95th percentile.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

/** Milliseconds between two checks; a blocked event loop delays the next one. */
const resolution = 1;
const histogram = monitorEventLoopDelay({ resolution });
histogram.enable();

process.on('SIGUSR2', () => {
  const late = Math.max(0, histogram.percentile(95) / 1e6 - resolution);
  writeFileSync(process.env['BENCH_EVENT_LOOP'] ?? '/dev/null', String(late));
  histogram.reset();
});
