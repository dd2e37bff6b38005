/** Measures the time to the first byte of the page of a folder with 10,000 entries, at an uncached commit. */
import type { Bench } from '../bench.ts';
import { type Figure, figure, median } from '../measured_figures.ts';
import { startFloor, startService } from '../service.ts';
import { base } from '../sites/root_api.ts';
import { newProject } from '../sites/git_site.ts';
import { signIn, writeFiles } from '../sites/pages.ts';

const entries = 10_000;
const entriesOfCommit = 1_000;

const fillFolder = async (port: number, project: string): Promise<void> => {
  for (let from = 0; from < entries; from += entriesOfCommit) {
    const files = Array.from({ length: entriesOfCommit }, (_none, at) => [`many/${from + at}.txt`, 'x\n']);
    await writeFiles(port, project, `Add from ${from}`, Object.fromEntries(files) as Record<string, string>);
  }
};

type PageRequest = { port: number; path: string; cookie: string };

/** Milliseconds until the head of the answer. */
export const timeHead = async ({
  port,
  path,
  cookie,
}: PageRequest): Promise<{ milliseconds: number; text: string }> => {
  const began = performance.now();
  const response = await fetch(`${base(port)}${path}`, { headers: { cookie, accept: 'text/html' } });
  const milliseconds = performance.now() - began;
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return { milliseconds, text: await response.text() };
};

/** Milliseconds until a text of the page has arrived. */
export const timeText = async ({ port, path, cookie }: PageRequest, awaited: string): Promise<number> => {
  const began = performance.now();
  const response = await fetch(`${base(port)}${path}`, { headers: { cookie, accept: 'text/html' } });
  let milliseconds: number | null = null;
  let seen = '';
  for await (const part of (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(
    new TextDecoderStream(),
  )) {
    if (milliseconds !== null) continue;
    seen += part;
    if (seen.includes(awaited)) milliseconds = performance.now() - began;
  }
  if (milliseconds === null) throw new Error(`${path} lacks ${awaited}`);
  return milliseconds;
};

export const timeFloor = async (request: PageRequest, page: string): Promise<number> => {
  const floor = await startFloor({ [request.path]: page });
  try {
    const times: number[] = [];
    for (let at = 0; at < 20; at += 1)
      times.push((await timeHead({ ...request, port: floor.port })).milliseconds);
    return median(times);
  } finally {
    await floor.stop();
  }
};

export const measureLargeFolder = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('pages')) return [];
  const server = await startService(await bench.databases.empty());
  try {
    bench.progress('pages: filling a folder');
    const { port } = server;
    const project = await newProject(port, 'folder');
    await fillFolder(port, project);
    const request = { port, path: `/${project}/tree/main/many`, cookie: await signIn(port) };
    await timeHead(request);
    const times: number[] = [];
    let page = '';
    for (let round = 0; round < Math.max(bench.rounds, 5); round += 1) {
      await writeFiles(port, project, `Add one ${round}`, { [`many/one-${round}`]: 'x\n' });
      const { milliseconds, text } = await timeHead(request);
      times.push(milliseconds);
      page = text;
    }
    const floor = await timeFloor(request, page);
    return [figure('page: folder of 10,000, first byte', 'ms', times, { ...bench.goals.pageFolder, floor })];
  } finally {
    await server.stop();
  }
};
