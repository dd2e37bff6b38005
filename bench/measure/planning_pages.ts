/** Measures the pages of issues and merge requests: a long list, long talks, and large changes. */
import { type Bench, usualSize } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { startService } from '../service.ts';
import { nodesOf, newProject } from '../sites/git_site.ts';
import { makeWithCode } from '../sites/merge_requests.ts';
import { signIn, writeFiles } from '../sites/pages.ts';
import { api } from '../sites/root_api.ts';
import { timeFloor, timeHead, timeText } from './large_folder.ts';
import { measurePage } from './pages.ts';

const comments = 50;
const longLines = 5_000;
const manyFiles = 50;

const addComments = async (port: number, path: string): Promise<void> => {
  for (let at = 0; at < comments; at += 1)
    await api(port, `POST ${path}/notes`, { body: `Comment **${at}** with \`code\`.\n\n- one\n- two` });
};

const linesOf = (count: number): string =>
  Array.from({ length: count }, (_none, at) => `export const value${at} = ${at};`).join('\n');

/** Opens a merge request that adds files, by their paths. @returns the path of its Changes tab */
const openAddition = async (port: number, name: string, files: Record<string, string>): Promise<string> => {
  const project = await newProject(port, name);
  await writeFiles(port, project, 'Begin', { 'README.md': 'Read me\n' });
  const id = encodeURIComponent(project);
  await api(port, `POST /projects/${id}/repository/commits`, {
    branch: 'feature',
    start_branch: 'main',
    commit_message: 'Add files',
    actions: Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content })),
  });
  const request = { title: 'Long', source_branch: 'feature', target_branch: 'main' };
  const { iid } = await api<{ iid: number }>(port, `POST /projects/${id}/merge_requests`, request);
  return `/${project}/merge_requests/${iid}/diffs`;
};

/** Opens a merge request that adds 5,000 lines in many files. */
const openManyFiles = async (port: number): Promise<string> => {
  const content = linesOf(longLines / manyFiles);
  const files = Array.from({ length: manyFiles }, (_none, at) => [`many/${at}.js`, content] as const);
  return await openAddition(port, 'many', Object.fromEntries(files));
};

type LongDiff = { port: number; pids: number[]; path: string; cookie: string };

/** Milliseconds of the clock until the first byte of a warm page. */
const measureFirstByte = async (bench: Bench, asked: LongDiff): Promise<Figure> => {
  await timeHead(asked);
  const times: number[] = [];
  let page = '';
  for (let round = 0; round < Math.max(bench.rounds, 5); round += 1) {
    const { milliseconds, text } = await timeHead(asked);
    times.push(milliseconds);
    page = text;
  }
  const floor = await timeFloor(asked, page);
  return figure('page: diff of 5,000 lines, first byte', 'ms', times, { ...bench.goals.pageLongDiff, floor });
};

/** Milliseconds of the clock until the first file of a warm page of many. */
const measureFirstFile = async (bench: Bench, asked: LongDiff): Promise<Figure> => {
  const first = 'class="card diff-file"';
  await timeText(asked, first);
  const times: number[] = [];
  for (let round = 0; round < Math.max(bench.rounds, 5); round += 1) times.push(await timeText(asked, first));
  const { text } = await timeHead(asked);
  const floor = await timeFloor(asked, text);
  const name = `page: diff of 5,000 lines in ${manyFiles} files, first file`;
  return figure(name, 'ms', times, { ...bench.goals.pageFirstFile, floor });
};

export const measurePlanningPages = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('pages')) return [];
  const { place, world } = await bench.databases.take(usualSize);
  const server = await startService(place);
  try {
    const { port } = server;
    bench.progress('pages: making issues and merge requests');
    const cookie = await signIn(port);
    const issues = `/${world.project_path}/issues`;
    const iid = world.newest[0]?.iid ?? 1;
    await addComments(port, `/projects/${world.project_id}/issues/${iid}`);
    const { page: request } = await makeWithCode(port);
    const pages = [
      ['20 of 100,000 issues', issues, bench.goals.pageIssues],
      ['issue of 50 comments', `${issues}/${iid}`, bench.goals.pageIssue],
      ['merge request', request, bench.goals.pageRequest],
      ['50 changed files', `${request}/diffs`, bench.goals.pageChanges],
    ] as const;
    const figures: Figure[] = [];
    for (const [name, path, goal] of pages) {
      bench.progress(`pages: ${name}`);
      figures.push(await measurePage(bench, name, { port, pids: nodesOf(server), path, cookie }, goal));
    }
    const shared = { port, pids: nodesOf(server), cookie };
    const longPath = await openAddition(port, 'long', { 'long.js': linesOf(longLines) });
    const long = { ...shared, path: `${longPath}?file=long.js` };
    const many = { ...shared, path: await openManyFiles(port) };
    bench.progress('pages: diff of 5,000 lines');
    return [
      ...figures,
      await measureFirstByte(bench, long),
      await measureFirstFile(bench, many),
      await measurePage(bench, 'diff of 5,000 lines', long, bench.goals.pageWholeLongDiff),
    ];
  } finally {
    await server.stop();
  }
};
