/** Samples memory and handles of the processes of a service, from `/proc` and from the probe in each. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { memoryOf, treeOf } from '../process_usage.ts';
import { type Slope, slopeOf } from './least_squares.ts';

const roles = ['service', 'gitd', 'runner'] as const;
type Role = (typeof roles)[number];

const figures = ['pss', 'heap', 'external', 'handles', 'fds'] as const;
type FigureName = (typeof figures)[number];

/** Memory in megabytes; `heap`, `external` and `handles` of processes that run the probe. */
type Held = { [name in FigureName]?: number };

export type Sample = { seconds: number } & { [role in Role]?: Held };

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended meanwhile
  }
};

const processesOf = (pid: number): { [role in Role]?: number } => {
  const below = treeOf(pid).slice(1);
  const named = (pattern: RegExp): number | undefined => below.find((one) => pattern.test(commandLine(one)));
  const [gitd, runner] = [named(/gitd(?:\/main\.ts|\.mjs)/), named(/runner(?:\/main\.ts|\.mjs)/)];
  return { service: pid, ...(gitd !== undefined && { gitd }), ...(runner !== undefined && { runner }) };
};

const megabyte = 2 ** 20;

type Probed = { heapUsed: number; external: number; handles: number };

const probed = (folder: string, pid: number): Held => {
  try {
    const { heapUsed, external, handles } = JSON.parse(
      readFileSync(join(folder, `${pid}.json`), 'utf8'),
    ) as Probed;
    return { heap: heapUsed / megabyte, external: external / megabyte, handles };
  } catch {
    return {}; // it has no probe, or has just started
  }
};

const held = (folder: string, pid: number): Held => {
  try {
    const fds = readdirSync(`/proc/${pid}/fd`).length;
    return { pss: memoryOf(pid, false).pss, ...probed(folder, pid), fds };
  } catch {
    return {}; // it ended meanwhile
  }
};

/** @param folder in which the probes write */
export const takeSample = (folder: string, service: number, seconds: number): Sample => {
  const pids = Object.entries(processesOf(service)) as [Role, number][];
  return { seconds, ...Object.fromEntries(pids.map(([role, pid]) => [role, held(folder, pid)])) };
};

export type Trend = { role: Role; figure: FigureName; first: number; last: number; slope: Slope | null };

/** Of each figure, with the slope over the second half of the samples. */
export const trendsOf = (samples: readonly Sample[]): Trend[] => {
  const middle = (samples.at(-1)?.seconds ?? 0) / 2;
  return roles.flatMap((role) =>
    figures.flatMap((figure) => {
      const points = samples.flatMap((sample) => {
        const value = sample[role]?.[figure];
        return value === undefined ? [] : [{ seconds: sample.seconds, value }];
      });
      const [first, last] = [points[0], points.at(-1)];
      if (first === undefined || last === undefined) return [];
      const slope = slopeOf(points.filter(({ seconds }) => seconds >= middle));
      return [{ role, figure, first: first.value, last: last.value, slope }];
    }),
  );
};

const units: { [name in FigureName]: string } = {
  pss: 'MB',
  heap: 'MB',
  external: 'MB',
  handles: '',
  fds: '',
};

/** Figures whose growth fails a run. The heap is a part of the memory (`pss`), and rises until the next collection. */
const judged: readonly FigureName[] = ['pss', 'handles', 'fds'];

/**
 * Whether a figure grows by more than `most` in an hour, beyond the uncertainty of its slope: a short or noisy run
 * fails only for growth that it can tell from noise.
 */
export const isGrowing = ({ figure, slope }: Trend, most: number): boolean =>
  judged.includes(figure) && slope !== null && slope.per_hour - slope.uncertainty > most;

/** One line a figure. */
export const trendText = ({ role, figure, first, last, slope }: Trend): string => {
  const name = `${role} ${figure}`.padEnd(17);
  const range = `${first.toFixed(1)} -> ${last.toFixed(1)} ${units[figure]}`.padEnd(24);
  if (slope === null) return `${name} ${range} too few samples for a slope`;
  const { mean, per_hour, uncertainty } = slope;
  const isFlat = Math.abs(per_hour) <= uncertainty;
  const signed = `${per_hour >= 0 ? '+' : ''}${per_hour.toFixed(2)} ± ${uncertainty.toFixed(2)} ${units[figure]}/h`;
  return `${name} ${range} second half: mean ${mean.toFixed(1)}, ${signed}${isFlat ? ' (flat)' : ''}`;
};
