/**
 * Measures the CPU of each path that clients use most, service and gitd together, as a multiple of what a bare
 * `node:http` server takes for a small answer in the same run. One client sends one request after another.
 */
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { sql } from 'kysely';
import { type Bench, type MeasuredServer, measureCosts, medianOf, usualSize } from '../bench.ts';
import type { Goals } from '../goals.ts';
import type { CheckedRequest } from '../load/load_job.ts';
import { operations, projectPath } from '../load/checked_requests.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { type DataLocation, startFloor, startService } from '../service.ts';
import { openLocation } from '../sites/databases.ts';
import { pushBranches } from '../sites/branches.ts';
import { urlOf } from '../sites/git_site.ts';
import { fillMergeRequests, makeWithCode } from '../sites/merge_requests.ts';
import { api } from '../sites/root_api.ts';
import { randomOf } from '../sites/draw_issues.ts';
import type { World } from '../sites/seed_database.ts';
import { measurePathsOfGit } from './git/paths.ts';

const randomIssues = 10_000;
const branches = 1_000;
const comments = 20;

/** Adds merge requests, and returns the iids of many issues in random order. */
export const prepareRecords = async (location: DataLocation, world: World): Promise<number[]> => {
  const store = await openLocation(location);
  try {
    await fillMergeRequests(store, world, usualSize);
    const { rows } = await sql<{ iid: number }>`select iid from issues
      where project_id = ${world.project_id} and deleted_at is null order by id limit ${randomIssues}`.execute(
      store.db,
    );
    const random = randomOf(11);
    return rows
      .map(({ iid }) => ({ iid, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ iid }) => iid);
  } finally {
    await store.close();
  }
};

type Site = { world: World; iids: number[]; code: string; mergeRequest: string; discussed: number };

export const prepareSite = async (
  location: DataLocation,
  port: number,
  ready: Pick<Site, 'world' | 'iids'>,
): Promise<Site> => {
  const { path } = await makeWithCode(port);
  const code = path.replace(/\/merge_requests\/\d+$/, '');
  const folder = join(location.data, '../branches');
  mkdirSync(folder);
  await pushBranches(folder, urlOf(port, 'root/with-code'), branches);
  const discussed = ready.iids[0] ?? 1;
  const notes = `${projectPath(ready.world)}/${discussed}/notes`.slice('/api/v4'.length);
  for (let at = 0; at < comments; at += 1) await api(port, `POST ${notes}`, { body: `Comment ${at}` });
  return { ...ready, code, mergeRequest: path, discussed };
};

export type Path = { name: string; goal: keyof Goals; requests: CheckedRequest[] };

const read = (name: string, goal: keyof Goals, path: string): Path => ({
  name,
  goal,
  requests: [{ method: 'GET', path, status: 200 }],
});

export const planningPaths = ({ world, iids, discussed }: Site): Path[] => {
  const issues = projectPath(world);
  const project = `/api/v4/projects/${world.project_id}`;
  const label = encodeURIComponent(world.labels[0]?.title ?? '');
  return [
    // The first path after a rest pays for what the idle collection has freed, so the smallest is not the first.
    read('own user', 'pathUser', '/api/v4/user'),
    read('version', 'pathVersion', '/api/v4/version'),
    read('issues, 20', 'pathList20', issues),
    read('issues, 100', 'pathList100', `${issues}?per_page=100`),
    read('issues by label and state', 'pathFilter', `${issues}?labels=${label}&state=opened`),
    {
      name: `one issue of ${iids.length}, at random`,
      goal: 'pathIssue',
      requests: iids.map((iid) => ({ method: 'GET', path: `${issues}/${iid}`, status: 200, iid })),
    },
    read('merge requests, 20', 'pathMergeRequests', `${project}/merge_requests`),
    read('labels, 20', 'pathLabels', `${project}/labels`),
    read('projects, 20', 'pathProjects', '/api/v4/projects'),
    read('issues assigned to me', 'pathAssigned', '/api/v4/issues?scope=assigned_to_me'),
    read('users, 20', 'pathUsers', '/api/v4/users'),
    read('discussions, 20', 'pathDiscussions', `${issues}/${discussed}/discussions`),
  ];
};

export const codePaths = ({ code, mergeRequest }: Site): Path[] => {
  const repository = `${code}/repository`;
  const file = `${repository}/files/folder%2Ffile-1.txt`;
  return [
    read('merge request', 'pathMergeRequest', mergeRequest),
    read('changes of 50 files', 'pathChanges', `${mergeRequest}/changes`),
    read('tree', 'pathTree', `${repository}/tree?path=folder&ref=main`),
    read('raw file', 'pathRaw', `${file}/raw?ref=main`),
    read('commits, 20', 'pathCommits', `${repository}/commits?ref_name=feature`),
    read('branches, 20', 'pathBranches20', `${repository}/branches`),
    read('branches, 100', 'pathBranches100', `${repository}/branches?per_page=100`),
    read('comparison, warm', 'pathCompare', `${repository}/compare?from=main&to=feature`),
    read('blame', 'pathBlame', `${file}/blame?ref=feature`),
  ];
};

export const writePaths = ({ world, iids }: Site): Path[] => {
  const text = 'What happens: it stops. What should happen: it continues, as in the version before.';
  const some = iids.slice(0, 500);
  return [
    { name: 'create an issue', goal: 'pathCreate', requests: operations.create(world) },
    { name: 'edit an issue', goal: 'pathEdit', requests: operations.edit(world) },
    {
      name: 'comment',
      goal: 'pathComment',
      requests: some.map((iid) => ({
        method: 'POST',
        path: `${projectPath(world)}/${iid}/notes`,
        body: JSON.stringify({ body: `${text} {n}` }),
        status: 201,
      })),
    },
  ];
};

/** The one that all others are divided by. */
const bare = 'bare answer';

/** A service with what its paths are measured on. */
type Subject = { site: Site; server: MeasuredServer['server'] };

const serversOf = (bench: Bench, { site, server }: Subject, mark: string): MeasuredServer[] =>
  [...planningPaths(site), ...codePaths(site), ...writePaths(site)].map(({ name, requests }) => ({
    clients: 1,
    databasePids: bench.databasePids,
    name: name + mark,
    server,
    token: site.world.developer.token,
    requests,
  }));

/** Marks the paths of the other checkout. */
const other = ', against';

const measureAll = async (bench: Bench, subject: Subject, compared: Subject | null): Promise<Figure[]> => {
  const paths = [...planningPaths(subject.site), ...codePaths(subject.site), ...writePaths(subject.site)];
  const floor = await startFloor({ '/': JSON.stringify({ text: 'x'.repeat(1_000) }) });
  try {
    const own = serversOf(bench, subject, '');
    const others = compared === null ? [] : serversOf(bench, compared, other);
    const asked: MeasuredServer[] = [
      {
        name: bare,
        server: floor,
        token: 'none',
        clients: 1,
        requests: [{ method: 'GET', path: '/', status: 200 }],
      },
      // One after the other, so that both find the machine alike.
      ...own.flatMap((one, at) => [one, ...others.slice(at, at + 1)]),
    ];
    const costs = await measureCosts(bench, asked);
    const unit = medianOf(costs, bare);
    const multiples = (name: string): number[] => (costs.get(name) ?? []).map((cost) => cost / unit);
    const ratios = (name: string): number[] =>
      (costs.get(name) ?? []).map((cost, at) => cost / (costs.get(name + other)?.[at] ?? NaN));
    return [
      figure(`path: ${bare}, CPU`, 'µs', costs.get(bare) ?? []),
      ...paths.map(({ name, goal }) => figure(`path: ${name}`, 'times', multiples(name), bench.goals[goal])),
      ...(compared === null
        ? []
        : paths.map(({ name }) => figure(`path: ${name}, to the other checkout`, 'times', ratios(name)))),
    ];
  } finally {
    await floor.stop();
  }
};

/** Starts the service of a checkout on data of its own, and measures with it. */
const withSubject = async <T>(
  bench: Bench,
  checkout: string | null,
  work: (subject: Subject, folder: string) => Promise<T>,
): Promise<T> => {
  const { place: location, world } = await bench.databases.take(usualSize);
  bench.progress('paths: making merge requests');
  const iids = await prepareRecords(location, world);
  const server = await startService(location, { checkout });
  try {
    bench.progress('paths: making a repository');
    const site = await prepareSite(location, server.port, { world, iids });
    return await work({ site, server }, join(location.data, '..'));
  } finally {
    await server.stop();
  }
};

export const measurePaths = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('paths')) return [];
  return await withSubject(bench, null, async (subject, folder) => {
    const { against } = bench;
    if (against !== null)
      return await withSubject(bench, against, async (compared) => measureAll(bench, subject, compared));
    const figures = await measureAll(bench, subject, null);
    return [...figures, ...(await measurePathsOfGit(bench, subject.server, folder))];
  });
};
