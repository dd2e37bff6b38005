/** Measures CPU of warm pages, service and gitd together, compared with a bare server that sends a page of the same length. */
import type { Bench } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { ownCpuSeconds } from '../process_usage.ts';
import { startFloor, startService } from '../service.ts';
import { api, base } from '../sites/root_api.ts';
import { newProject, nodesOf } from '../sites/git_site.ts';
import { signIn, writeFiles } from '../sites/pages.ts';

/** Requests of one round: with fewer, later rounds still cost less than earlier ones. */
const requests = 500;

/** A project of 50 entries, with a README, a file of 500 lines and 30 commits. */
const prepareProject = async (port: number): Promise<string> => {
  const project = await newProject(port, 'pages');
  const entries = Array.from({ length: 48 }, (_none, at) => [`entry-${at}.txt`, `${at}\n`] as const);
  const lines = Array.from({ length: 500 }, (_none, at) => `export const value${at} = ${at};`).join('\n');
  const readme = '# Pages\n\nWhat is measured.\n\n- one\n- two\n\n```js\nconst a = 1;\n```\n';
  await writeFiles(port, project, 'Begin', {
    ...Object.fromEntries(entries),
    'README.md': readme,
    'large.js': lines,
  });
  for (let at = 0; at < 30; at += 1)
    await writeFiles(port, project, `Add ${at}`, { [`more/${at}.txt`]: `${at}\n` });
  return project;
};

/** Issues of a board of six columns, each of which shows twenty. */
const boardIssues = 240;

/** Creates a board with four lists of labels; returns its address. */
const prepareBoard = async (port: number, project: string): Promise<string> => {
  const path = `/projects/${encodeURIComponent(project)}`;
  const { id: board } = await api<{ id: number }>(port, `POST ${path}/boards`, { name: 'Pages' });
  for (const name of ['one', 'two', 'three', 'four']) {
    const { id: label_id } = await api<{ id: number }>(port, `POST ${path}/labels`, {
      name,
      color: '#336699',
    });
    await api(port, `POST ${path}/boards/${board}/lists`, { label_id });
  }
  for (let at = 0; at < boardIssues; at += 1) {
    const labels = ['one', 'two', 'three', 'four'][at % 6] ?? '';
    const { iid } = await api<{ iid: number }>(port, `POST ${path}/issues`, { title: `Issue ${at}`, labels });
    if (at % 6 === 5) await api(port, `PUT ${path}/issues/${iid}`, { state_event: 'close' });
  }
  return `/${project}/-/boards/${board}`;
};

type MeasuredPage = { port: number; pids: number[]; path: string; cookie: string };

const ask = async ({ port, path, cookie }: MeasuredPage): Promise<string> => {
  const response = await fetch(`${base(port)}${path}`, { headers: { cookie, accept: 'text/html' } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return text;
};

/** Milliseconds of CPU a request, one after another, round by round. */
const measureRounds = async (rounds: number, page: MeasuredPage): Promise<number[]> => {
  const costs: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = ownCpuSeconds(page.pids);
    for (let at = 0; at < requests; at += 1) await ask(page);
    // The first round warms caches and compiles.
    if (round > 0) costs.push(((ownCpuSeconds(page.pids) - before) / requests) * 1e3);
  }
  return costs;
};

const measureOne = async (bench: Bench, page: MeasuredPage): Promise<number[][]> => {
  const floor = await startFloor({ [page.path]: await ask(page) });
  try {
    const bare = { ...page, port: floor.port, pids: [floor.pid] };
    return [await measureRounds(bench.rounds, page), await measureRounds(bench.rounds, bare)];
  } finally {
    await floor.stop();
  }
};

/** Measures the CPU of a warm page, and that of a bare server with the same answer. */
export const measurePage = async (
  bench: Bench,
  name: string,
  page: MeasuredPage,
  goal: { goal: number },
): Promise<Figure> => {
  const [costs = [], floors = []] = await measureOne(bench, page);
  const floor = floors.toSorted((a, b) => a - b)[Math.floor(floors.length / 2)];
  return figure(`page: ${name}, CPU`, 'ms', costs, { ...goal, ...(floor !== undefined && { floor }) });
};

export const measurePages = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('pages')) return [];
  const server = await startService(await bench.databases.empty());
  try {
    bench.progress('pages: making a project');
    const project = await prepareProject(server.port);
    const cookie = await signIn(server.port);
    const { goals } = bench;
    const pages = [
      ['home of a project of 50 entries', `/${project}`, goals.pageHome],
      ['file of 500 lines', `/${project}/-/blob/main/large.js`, goals.pageFile],
      ['commits', `/${project}/-/commits/main`, goals.pageCommits],
      ['dashboard', '/', goals.pageDashboard],
    ] as const;
    const figures: Figure[] = [];
    for (const [name, path, goal] of pages) {
      bench.progress(`pages: ${name}`);
      const page = { port: server.port, pids: nodesOf(server), path, cookie };
      figures.push(await measurePage(bench, name, page, goal));
    }
    bench.progress('pages: board');
    const path = await prepareBoard(server.port, project);
    const board = { port: server.port, pids: nodesOf(server), path, cookie };
    figures.push(await measurePage(bench, 'board of 120 cards', board, goals.pageBoard));
    return figures;
  } finally {
    await server.stop();
  }
};
