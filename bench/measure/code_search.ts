/** Measures searches in the code of a default branch of a million lines. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { commitAll, git, newProject, urlOf } from '../sites/git_site.ts';
import { api } from '../sites/root_api.ts';
import { startService } from '../service.ts';

const [files, linesOfFile] = [2_000, 500];
/** Every so many files, one is searched for. */
const fileStep = 17;

/** A word that stands in one file only: index and text search have to find the file among all others. */
const rareWord = (file: number): string => `rareWord${String(file).padStart(6, '0')}x`;

const words = ['open', 'close', 'bridge', 'river', 'plank', 'carry', 'count', 'match', 'lines', 'first'];

/** Each line differs from the others, as in source code. */
const lineOf = (file: number, line: number): string => {
  const word = (at: number): string => words[(file * 7 + line * 3 + at * at) % words.length] ?? '';
  return `  const ${word(1)}${file}_${line} = ${word(2)}(${word(3)}, ${(file * line) % 1_009}); // ${word(4)}`;
};

const textOf = (file: number): string =>
  Array.from({ length: linesOfFile }, (_none, line) =>
    line === linesOfFile >> 1 ? `  call(${rareWord(file)});` : lineOf(file, line),
  ).join('\n');

const pushCode = async (port: number, folder: string): Promise<string> => {
  const project = await newProject(port, 'code');
  await git(folder, 'init', '--quiet', '.');
  for (let file = 0; file < files; file += 1) {
    const place = join(folder, `part-${file % 40}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${file}.js`), textOf(file));
  }
  await commitAll(folder, 'A million lines');
  await git(folder, 'push', '--quiet', urlOf(port, project), 'HEAD:refs/heads/main');
  return project;
};

type Match = { path: string };

const search = async (port: number, project: string, text: string): Promise<Match[]> =>
  await api<Match[]>(
    port,
    `GET /projects/${encodeURIComponent(project)}/search?scope=blobs&search=${encodeURIComponent(text)}`,
  );

/** Each search asks for another word: answers are cached. */
const timeSearches = async (
  count: number,
  ask: (at: number) => Promise<Match[]>,
  isRight: (matches: Match[], at: number) => boolean,
): Promise<number[]> => {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    const matches = await ask(at);
    times.push(performance.now() - began);
    if (!isRight(matches, at)) throw new Error(`search ${at} found ${matches.length} files`);
  }
  return times;
};

export const measureCodeSearch = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('search')) return [];
  const folder = mkdtempSync(join(tmpdir(), 'gantry-code-'));
  const server = await startService(await bench.databases.empty());
  const { port } = server;
  try {
    bench.progress('code search: pushing a million lines');
    const project = await pushCode(port, folder);
    const began = performance.now();
    bench.progress('code search: the index is filled');
    const count = Math.max(bench.rounds, 5) * 4;
    for (let at = 0; at < files; at += fileStep)
      while ((await search(port, project, rareWord(at))).length === 0) await wait(250);
    const filled = performance.now() - began;
    const rare = await timeSearches(
      count,
      async (at) => await search(port, project, rareWord(at * fileStep)),
      (found, at) => found.length === 1 && found[0]?.path.endsWith(`/file-${at * fileStep}.js`) === true,
    );
    const common = await timeSearches(
      count,
      async (at) => await search(port, project, `(river, ${at + 1})`),
      (found) => found.length > 0,
    );
    return [
      figure('code search, 1,000,000 lines: filling the index', 'ms', [filled]),
      figure('code search, 1,000,000 lines: a text of one file', 'ms', rare, bench.goals.codeSearch),
      figure('code search, 1,000,000 lines: a text of a hundred files', 'ms', common, bench.goals.codeSearch),
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
