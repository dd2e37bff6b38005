/** The mixed load of a soak test: its operations and how often each is chosen. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { api, base } from '../sites/root_api.ts';
import { makeCiProject } from '../sites/ci_site.ts';
import { git, urlOf } from '../sites/git_site.ts';
import { makeWithCode } from '../sites/merge_requests.ts';
import { rootToken } from '../service.ts';
import { randomOf } from '../sites/draw_issues.ts';

const issues = 200;
/** Branches that pushes move in turn: refs do not grow without end. */
const branches = 20;

export type SoakSite = {
  port: number;
  folder: string;
  project: number;
  path: string;
  /** Below `/api/v4`. */
  requestPath: string;
  random: () => number;
};

type Operation = { weight: number; run: (site: SoakSite) => Promise<unknown> };

/** Makes a project with issues, one with a merge request, and a clone to push from. */
export const prepareSoak = async (port: number, folder: string): Promise<SoakSite> => {
  const script = 'work:\n  script: [echo done]\n  rules:\n    - if: $CI_PIPELINE_SOURCE == "api"\n';
  const { id: project, path } = await makeCiProject(port, 'soak', script);
  for (let at = 0; at < issues; at += 1) {
    await api(port, `POST /projects/${project}/issues`, {
      title: `Issue ${at}`,
      description: 'text '.repeat(50),
    });
  }
  const request = await makeWithCode(port);
  await git(folder, 'clone', '--quiet', urlOf(port, path), 'tree');
  const requestPath = request.path.replace('/api/v4', '');
  return { port, folder, project, path, requestPath, random: randomOf(1) };
};

const get = async ({ port }: SoakSite, path: string): Promise<void> => {
  const headers = { 'private-token': rootToken };
  const response = await fetch(`${base(port)}/api/v4${path}`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
};

const pick = (site: SoakSite, count: number): number => 1 + Math.floor(site.random() * count);

let lastPush: Promise<unknown> = Promise.resolve();

/** One after another: they share a work tree. */
const push = async (site: SoakSite): Promise<void> => {
  const run = async (): Promise<void> => {
    const tree = join(site.folder, 'tree');
    await git(tree, 'commit', '--quiet', '--allow-empty', '--message', 'Soak');
    const ref = `HEAD:refs/heads/soak-${pick(site, branches)}`;
    await git(tree, 'push', '--quiet', '--force', urlOf(site.port, site.path), ref);
  };
  const next = lastPush.then(run);
  lastPush = next.catch(() => undefined);
  await next;
};

const clone = async ({ port, folder, path }: SoakSite): Promise<void> => {
  const place = mkdtempSync(join(folder, 'clone-'));
  try {
    await git(place, 'clone', '--quiet', '--bare', '--single-branch', urlOf(port, path), 'bare.git');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

/** Weights are percentages: 60 of reads, 40 of writes, pushes, fetches and pipelines. */
export const operations: { [name: string]: Operation } = {
  'list issues': {
    weight: 20,
    run: async (site) =>
      await get(site, `/projects/${site.project}/issues?per_page=20&page=${pick(site, 5)}`),
  },
  'list merge requests': {
    weight: 10,
    run: async (site) => await get(site, `${site.requestPath.replace(/\/\d+$/, '')}?per_page=20`),
  },
  'get issue': {
    weight: 20,
    run: async (site) => await get(site, `/projects/${site.project}/issues/${pick(site, issues)}`),
  },
  'get merge request': { weight: 10, run: async (site) => await get(site, site.requestPath) },
  'create issue': {
    weight: 10,
    run: async ({ port, project }) => await api(port, `POST /projects/${project}/issues`, { title: 'Soak' }),
  },
  'edit issue': {
    weight: 10,
    run: async (site) =>
      await api(site.port, `PUT /projects/${site.project}/issues/${pick(site, issues)}`, {
        title: `Issue ${site.random()}`,
      }),
  },
  comment: {
    weight: 12,
    run: async (site) =>
      await api(site.port, `POST /projects/${site.project}/issues/${pick(site, issues)}/notes`, {
        body: 'A comment',
      }),
  },
  push: { weight: 3, run: push },
  fetch: { weight: 4, run: clone },
  pipeline: {
    weight: 1,
    run: async ({ port, project }) => await api(port, `POST /projects/${project}/pipeline`, { ref: 'main' }),
  },
};

/** A name by weight. @param share from 0 to 1 */
export const chooseOperation = (share: number): string => {
  const all = Object.entries(operations);
  let rest = share * all.reduce((sum, [, { weight }]) => sum + weight, 0);
  for (const [name, { weight }] of all) {
    rest -= weight;
    if (rest < 0) return name;
  }
  return all[0]?.[0] ?? '';
};
