/** Measures the processor time that inputs take, and whether it grows faster than their length. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import process from 'node:process';

export type Work = () => Promise<unknown> | void;

/** Starts to count; returns a function that returns the milliseconds of CPU since. */
export type Watch = () => () => number;

/** Counts this process, in which the service runs. */
export const watchOwn: Watch = () => {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
};

const millisecondsPerTick = 10;

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Parent of a process, and milliseconds of the children that it has waited for. */
const readStat = (pid: number): { parent: number; reaped: number } => {
  const fields = readText(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  return { parent: fields[1] ?? 0, reaped: ((fields[13] ?? 0) + (fields[14] ?? 0)) * millisecondsPerTick };
};

/** Milliseconds of all threads of a process, counted in nanoseconds. */
const readThreads = (pid: number): number => {
  let sum = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      sum += Number(readText(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0] ?? 0);
    }
  } catch {
    // The process has exited.
  }
  return sum / 1e6;
};

/** Milliseconds of gitd, of the git processes that it runs, and of those that have ended. */
const readDescendants = (): number => {
  const stats = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), readStat(Number(name))]),
  );
  const isOurs = (pid: number): boolean => {
    const { parent } = stats.get(pid) ?? { parent: 0 };
    return parent === process.pid || (parent > 1 && isOurs(parent));
  };
  let sum = 0;
  for (const [pid, { reaped }] of stats) if (isOurs(pid)) sum += readThreads(pid) + reaped;
  return sum;
};

/** Counts this process and all that it has started, such as gitd and the git processes that gitd starts. */
export const watchTree: Watch = () => {
  const before = readDescendants();
  const own = watchOwn();
  return () => {
    const used = own();
    return used + readDescendants() - before;
  };
};

export const costFor = async (work: Work, watch: Watch = watchOwn): Promise<number> => {
  const stop = watch();
  await work();
  return stop();
};

const rounds = 3;

/** The least of several: what else goes on only ever adds. */
export const leastCost = async (work: Work, watch: Watch = watchOwn): Promise<number> => {
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) costs.push(await costFor(work, watch));
  return Math.min(...costs);
};

const mostTries = 10;

/** Returns the least cost of several tries, of which the first within the limit is the last. */
export const costWithin = async (most: number, work: Work, watch: Watch = watchOwn): Promise<number> => {
  let least = Infinity;
  for (let at = 0; at < mostTries && least > most; at += 1)
    least = Math.min(least, await costFor(work, watch));
  return least;
};

const walkedBytes = 2 * 1024 * 1024;

const walkOver = (bytes: Buffer): number => {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) sum += bytes[at] ?? 0;
  return sum;
};

/** Milliseconds in which a usual machine walks over so many bytes. */
const usualWalk = 1.6;
/** A machine that seems even slower than this many times is busy, and another try is faster. */
const mostSlowness = 3;

/** Returns how much slower this machine is than a usual one: from 1 to 3. */
export const measureSlowness = async (): Promise<number> => {
  const bytes = Buffer.alloc(walkedBytes, 'a');
  const walk = await costWithin(usualWalk, () => assert.ok(walkOver(bytes) > 0));
  return Math.min(Math.max(1, walk / usualWalk), mostSlowness);
};

/** Milliseconds of CPU below which a growth tells nothing. */
export const floor = 15;
const mostGrowth = 2.5;

export type Growth = { cost: (length: number) => Promise<number>; length: number; least?: number };

/** Returns the costs of half the length and of the length where the second is too much; else null. */
const growsTooMuch = async ({ cost, length, least = floor }: Growth): Promise<number[] | null> => {
  const costs = [await cost(Math.floor(length / 2)), await cost(length)];
  const [half = 0, whole = 0] = costs;
  return whole > least && whole > half * mostGrowth ? costs : null;
};

/** Returns the costs of lengths where they grow too much in two measurements, the second at `again`; else null. */
export const growsTwice = async (growth: Growth, again = growth.length): Promise<number[] | null> => {
  const costs = await growsTooMuch(growth);
  if (costs === null) return null;
  const { least = floor } = growth;
  const isLonger = again > growth.length;
  const more = await growsTooMuch({
    ...growth,
    length: again,
    least: isLonger ? least * mostGrowth : least,
  });
  return more === null ? null : [...costs, ...more];
};
