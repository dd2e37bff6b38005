/** Plans which test files run on which engine, in which order, and how many share a process. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashToFraction } from './sample.ts';
import { isIn, storeless } from './store_independent.ts';

export type EngineName = 'sqlite' | 'postgres';
export type Work = {
  engine: EngineName;
  file: string;
  seconds: number;
  /** Whether the file runs in a process of its own. */
  isAlone: boolean;
  /** Only files with the same word share a process. */
  company: string;
};

/** Tests that kill processes and fill disks: each file has a process of its own. */
const isolated = ['test/crash/'];
/** Tests that start programs: only files of the same folder share a process, and with it a browser. */
const starting = ['test/cli/', 'test/clients/', 'test/git/', 'test/ci/', 'test/web/'];

/** Pages in a browser behave the same on both engines. */
const browsers = ['test/web/'];

/**
 * What runs on PostgreSQL in every run: the layer of the engines and its queue, and files with tests of one engine or
 * of its deadlocks.
 */
const alwaysFolders = ['src/platform/db/', 'src/platform/queue/'];
const alwaysWords = /engine [!=]== 'postgres'|isPostgres|deadlock|holdPauses/i;
/** A file with one of these words runs often: order, text search and simultaneous writes are left to the engine. */
const oftenWords =
  /\bconcurren|(?<!Promise\.)\braces?\b|at once|order_by|[?&]sort=|[?&]search=|engine === 'sqlite'/i;
/**
 * Files where most of the time is not spent on queries that differ. Of these, those with tests of one engine run more
 * often.
 */
const seldom = [...isolated, ...starting, 'test/access/', 'test/fuzz/', 'src/doors/web/'];
const engineCondition = /engine !== 'postgres'|isPostgres/;

/**
 * Folders whose tests start programs, kill them or show pages in a browser. `npm test` runs one in so many of their
 * files on each engine, others after each commit.
 */
const heavy = [...isolated, ...starting];
const heavyShare = { sqlite: 4, postgres: 3 };

/** Of each of these, `npm test` runs at least one file on the first engine, whatever their shares. */
const represented = [...heavy, 'test/access/', 'test/fuzz/', 'test/gates/', 'test/deploy/'];

/** Tests of single pages, of which there are many. `npm test` runs one in so many of their files on SQLite. */
const pages = ['src/doors/web/pages/'];
const pagesShare = 2;

/** PostgreSQL runs one in so many of the files that run often, of the seldom ones, and of the others. */
const shares = { often: 5, other: 16, seldom: 32 };

export type Choice = {
  engines: readonly EngineName[];
  files: readonly string[];
  /** Whether every file runs on every engine. */
  isWhole: boolean;
  seed: number;
};

const shareOf = (file: string): number => {
  const text = readFileSync(file, 'utf8');
  if (isIn(seldom, file)) return engineCondition.test(text) ? 1 : shares.seldom;
  if (isIn(alwaysFolders, file) || alwaysWords.test(text)) return 1;
  return oftenWords.test(text) ? shares.often : shares.other;
};

const shareOfHeavy = (engine: EngineName, file: string): number =>
  isIn(heavy, file) ? heavyShare[engine] : 1;

const runsOnPostgres = (file: string, { isWhole, seed }: Choice): boolean =>
  isWhole || hashToFraction(seed, file) < 1 / Math.max(shareOf(file), shareOfHeavy('postgres', file));

const runsOnSqlite = (file: string, { isWhole, seed }: Choice): boolean => {
  const share = isIn(pages, file) ? pagesShare : shareOfHeavy('sqlite', file);
  return isWhole || hashToFraction(seed, `sqlite ${file}`) < 1 / share;
};

/** The file of each represented folder that is chosen first, in a sample too. */
const listRepresentatives = (files: readonly string[], seed: number): Set<string> => {
  const chosen = represented.flatMap((folder) =>
    files
      .filter((file) => file.startsWith(folder))
      .toSorted(
        (one, other) => hashToFraction(seed, `sqlite ${one}`) - hashToFraction(seed, `sqlite ${other}`),
      )
      .slice(0, 1),
  );
  return new Set(chosen);
};

/** Lists the work, longest first. Files that use no store run once, on the first engine. */
export const planWork = (choice: Choice): Work[] => {
  const { engines, files } = choice;
  const seconds = readDurations();
  const representatives = listRepresentatives(files, choice.seed);
  const isChosen = (engine: EngineName, file: string): boolean =>
    (engine === engines[0] && representatives.has(file)) ||
    (engine === 'sqlite' ? runsOnSqlite : runsOnPostgres)(file, choice);
  const work = engines.flatMap((engine) =>
    files
      .filter((file) => engine === engines[0] || !isIn([...storeless, ...browsers], file))
      .filter((file) => isChosen(engine, file))
      .map((file) => ({
        engine,
        file,
        seconds: seconds[`${engine} ${file}`] ?? estimate(file),
        isAlone: isAlone(file),
        company: starting.find((folder) => file.startsWith(folder)) ?? '',
      })),
  );
  return work.toSorted((one, other) => other.seconds - one.seconds);
};

/** Estimates the seconds of a file without a recorded duration, from its size and whether it starts processes. */
const estimate = (file: string): number =>
  statSync(file).size / 4000 +
  (isIn([...isolated, ...starting], file) ? 10 : 0) +
  (file.includes('/access/') ? 10 : 0);

// Processes

/**
 * Whether the file awaits at its top level, so that `one_process.ts` loads it only if it is alone, or replaces parts of
 * the runtime, which other files use.
 */
const isAlone = (file: string): boolean =>
  isIn(isolated, file) ||
  /^(?:const .*= )?await |Object\.assign\(globalThis/m.test(readFileSync(file, 'utf8'));

const mostFiles = 60;
/** Target seconds of a process: longer ones finish late, shorter ones load the service too often. */
const longest = 120;
const shortest = 8;

/**
 * Takes the files of the next process out of the work: the longest remaining one, and others of its engine while
 * there are enough for all processes, so that the processes end at about the same time.
 */
export const takeGroup = (work: Work[], processes: number): Work[] => {
  const [first] = work;
  if (first === undefined) return [];
  const remaining = work.reduce((sum, { seconds }) => sum + seconds, 0);
  const target = Math.min(longest, Math.max(shortest, remaining / (processes * 2)));
  const group = [first];
  let sum = first.seconds;
  for (const one of first.isAlone ? [] : work.slice(1)) {
    const isSuited = one.engine === first.engine && one.company === first.company && !one.isAlone;
    const fits = isSuited && sum + one.seconds <= target;
    if (!fits || group.length === mostFiles) continue;
    group.push(one);
    sum += one.seconds;
  }
  const others = work.filter((one) => !group.includes(one));
  work.splice(0, work.length, ...others);
  return group;
};

// Durations

const durationsFile = join(import.meta.dirname, '../../../node_modules/.cache/gantry/test_durations.json');

type Durations = Record<string, number>;

const readDurations = (): Durations => {
  try {
    return JSON.parse(readFileSync(durationsFile, 'utf8')) as Durations;
  } catch {
    return {}; // the first run here
  }
};

/** Saves how long the files took, for the order of the next run. */
export const rememberDurations = (times: { engine: EngineName; file: string; seconds: number }[]): void => {
  const all = readDurations();
  for (const { engine, file, seconds } of times) all[`${engine} ${file}`] = Math.round(seconds * 10) / 10;
  mkdirSync(dirname(durationsFile), { recursive: true });
  writeFileSync(durationsFile, JSON.stringify(all));
};
