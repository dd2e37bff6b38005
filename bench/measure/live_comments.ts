/** Measures how long it takes until a comment on a merge request is on the page that somebody else has open. */
import type { Page } from 'playwright-core';
import { openBrowser, releaseBrowser } from '../../test/web/chromium.ts';
import type { Bench } from '../bench.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { startService } from '../service.ts';
import { newProject } from '../sites/git_site.ts';
import { signIn, writeFiles } from '../sites/pages.ts';
import { api, base } from '../sites/root_api.ts';

type Commented = { project: string; iid: number; commenter: number };

/** Opens a merge request, and creates the user who comments on it. */
const prepare = async (port: number): Promise<Commented> => {
  const project = await newProject(port, 'live');
  await writeFiles(port, project, 'Begin', { 'README.md': 'Read me\n' });
  const path = `/projects/${encodeURIComponent(project)}`;
  await api(port, `POST ${path}/repository/commits`, {
    branch: 'change',
    start_branch: 'main',
    commit_message: 'Change',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'a\n' }],
  });
  const ends = { source_branch: 'change', target_branch: 'main', title: 'Change' };
  const { iid } = await api<{ iid: number }>(port, `POST ${path}/merge_requests`, ends);
  const { id: commenter } = await api<{ id: number }>(port, 'POST /users', {
    username: 'commenter',
    name: 'Commenter',
    email: 'commenter@example.com',
    password: 'correct horse',
  });
  await api(port, `POST ${path}/members`, { user_id: commenter, access_level: 30 });
  return { project, iid, commenter };
};

/** Returns milliseconds from the answer of each comment until the page shows it. */
const measureRounds = async (
  page: Page,
  port: number,
  { project, iid, commenter }: Commented,
  rounds: number,
): Promise<number[]> => {
  const notes = `/projects/${encodeURIComponent(project)}/merge_requests/${iid}/notes?sudo=${commenter}`;
  const waits: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const body = `Comment number ${round}.`;
    await api(port, `POST ${notes}`, { body });
    const answered = performance.now();
    await page.getByText(body).waitFor();
    // The first round warms caches and compiles.
    if (round > 0) waits.push(performance.now() - answered);
  }
  return waits;
};

export const measureLiveComments = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('live')) return [];
  const server = await startService(await bench.databases.empty());
  try {
    bench.progress('live: opening a merge request');
    const commented = await prepare(server.port);
    const cookie = await signIn(server.port);
    const browser = await openBrowser();
    const url = base(server.port);
    const context = await browser.newContext({ baseURL: url });
    try {
      await context.addCookies(
        cookie.split('; ').map((pair) => {
          const [name = '', value = ''] = pair.split(/=(.*)/);
          return { name, value, url };
        }),
      );
      const page = await context.newPage();
      const connected = page.waitForResponse((answer) => answer.url().endsWith('/api/v4/changes'));
      await page.goto(`/${commented.project}/merge_requests/${commented.iid}`);
      await connected;
      bench.progress('live: comments');
      const waits = await measureRounds(page, server.port, commented, bench.rounds);
      return [figure('comment on an open merge request, until shown', 'ms', waits, bench.goals.commentSeen)];
    } finally {
      await context.close();
      releaseBrowser();
    }
  } finally {
    await server.stop();
  }
};
