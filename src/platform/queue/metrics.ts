/** Formats metrics of background work as Prometheus text, by kind and lane. */
import type { Reader } from '../db/open.ts';
import { type WorkFigures, loadWorkFigures } from './inspect_work.ts';
import { type Lane, getLaneName } from './lanes.ts';

type Parts = { db: Reader; now: number; kinds: readonly string[]; lanes: readonly Lane[] };

type Gauge = { name: string; help: string; value: (figures: WorkFigures, now: number) => number };

const gauges: Gauge[] = [
  {
    name: 'gantry_work_depth',
    help: 'Background work that waits or runs',
    value: ({ waiting, running }) => waiting + running,
  },
  { name: 'gantry_work_running', help: 'Background work that runs', value: ({ running }) => running },
  {
    name: 'gantry_work_failed',
    help: 'Background work that failed permanently and waits for a manual retry',
    value: ({ failed }) => failed,
  },
  {
    name: 'gantry_work_oldest_age_seconds',
    help: 'Time since the oldest background work that waits or runs became due; 0 without any',
    value: ({ oldest }, now) => (oldest === null ? 0 : Math.max(0, now - oldest) / 1000),
  },
];

const none = { waiting: 0, running: 0, failed: 0, oldest: null, due: null };

/** Formats all gauges; kinds without work are zero. */
export const formatWorkMetrics = async ({ db, now, kinds, lanes }: Parts): Promise<string> => {
  const figures = new Map<string, WorkFigures>(kinds.map((name) => [name, { name, ...none }]));
  for (const figure of await loadWorkFigures(db, now)) figures.set(figure.name, figure);
  const line = ({ name, value }: Gauge, figure: WorkFigures): string =>
    `${name}{kind="${figure.name}",lane="${getLaneName(lanes, figure.name)}"} ${value(figure, now)}`;
  return gauges
    .flatMap((gauge) => [
      `# HELP ${gauge.name} ${gauge.help}`,
      `# TYPE ${gauge.name} gauge`,
      ...[...figures.values()].map((figure) => line(gauge, figure)),
    ])
    .join('\n');
};
