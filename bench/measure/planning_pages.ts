/** Measures the pages of issues and merge requests: a long list, long talks, and large changes. */
import { type Bench, usualSize } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { startService } from '../service.ts';
import { nodesOf, newProject } from '../sites/git_site.ts';
import { makeWithCode } from '../sites/merge_requests.ts';
import { signIn, writeFiles } from '../sites/pages.ts';
import { api } from '../sites/root_api.ts';
import { timeFloor, timeHead } from './large_folder.ts';
import { measurePage } from './pages.ts';

const comments = 50;
const longLines = 5_000;

const addComments = async (port: number, path: string): Promise<void> => {
  for (let at = 0; at < comments; at += 1)
    await api(port, `POST ${path}/notes`, { body: `Comment **${at}** with \`code\`.\n\n- one\n- two` });
};

/** Opens a merge request that adds a file of 5,000 lines. @returns the path of its page */
const openLongRequest = async (port: number): Promise<string> => {
  const project = await newProject(port, 'long');
  await writeFiles(port, project, 'Begin', { 'README.md': 'Read me\n' });
  const lines = Array.from({ length: longLines }, (_none, at) => `export const value${at} = ${at};`).join(
    '\n',
  );
  const id = encodeURIComponent(project);
  await api(port, `POST /projects/${id}/repository/commits`, {
    branch: 'feature',
    start_branch: 'main',
    commit_message: 'Add a long file',
    actions: [{ action: 'create', file_path: 'long.js', content: lines }],
  });
  const request = { title: 'Long', source_branch: 'feature', target_branch: 'main' };
  const { iid } = await api<{ iid: number }>(port, `POST /projects/${id}/merge_requests`, request);
  return `/${project}/merge_requests/${iid}/diffs?file=long.js`;
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
    const long = { port, pids: nodesOf(server), path: await openLongRequest(port), cookie };
    bench.progress('pages: diff of 5,000 lines');
    return [
      ...figures,
      await measureFirstByte(bench, long),
      await measurePage(bench, 'diff of 5,000 lines', long, bench.goals.pageWholeLongDiff),
    ];
  } finally {
    await server.stop();
  }
};
