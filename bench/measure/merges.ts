/** Measures the time from call to answer of a merge, and of the uncached changes of 50 files. */
import { api } from '../sites/root_api.ts';
import type { Bench } from '../bench.ts';
import { type Figure, figure, percentile } from '../measured_figures.ts';
import { timed } from '../sites/git_site.ts';

/** Merges of one round. */
const merges = 10;
const files = 50;

type Site = { port: number; id: number };

const commit = async ({ port, id }: Site, branch: string, changed: number, from?: string): Promise<void> => {
  const actions = Array.from({ length: changed }, (_none, at) => ({
    action: from === undefined ? 'create' : 'update',
    file_path: `folder/file-${at}.txt`,
    content: `${Array.from({ length: 60 }, (_one, line) => `line ${line}`).join('\n')}\n${branch}\n`,
  }));
  await api(port, `POST /projects/${id}/repository/commits`, {
    branch,
    commit_message: `Change ${branch}`,
    actions,
    ...(from !== undefined && { start_branch: from }),
  });
};

const commitNew = async ({ port, id }: Site, branch: string): Promise<void> => {
  await api(port, `POST /projects/${id}/repository/commits`, {
    branch,
    start_branch: 'main',
    commit_message: `Add ${branch}`,
    actions: [{ action: 'create', file_path: `new/${branch}.txt`, content: branch }],
  });
};

/** Opens one. @returns its path in the API */
const open = async ({ port, id }: Site, source_branch: string): Promise<string> => {
  const { iid } = await api<{ iid: number }>(port, `POST /projects/${id}/merge_requests`, {
    title: source_branch,
    source_branch,
    target_branch: 'main',
  });
  return `/projects/${id}/merge_requests/${iid}`;
};

const mergeRound = async (site: Site, round: number): Promise<number> => {
  const waits: number[] = [];
  for (let at = 0; at < merges; at += 1) {
    const branch = `merge-${round}-${at}`;
    await commitNew(site, branch);
    const path = await open(site, branch);
    waits.push(await timed(async () => await api(site.port, `PUT ${path}/merge`, {})));
  }
  return percentile(
    waits.toSorted((a, b) => a - b),
    0.5,
  );
};

const firstChanges = async (site: Site, round: number): Promise<number> => {
  const branch = `changed-${round}`;
  await commit(site, branch, files, 'main');
  const path = await open(site, branch);
  return await timed(async () => await api(site.port, `GET ${path}/changes`));
};

export const measureMerges = async (bench: Bench, port: number): Promise<Figure[]> => {
  const { id } = await api<{ id: number }>(port, 'POST /projects', { name: 'merged', visibility: 'public' });
  const site = { port, id };
  await commit(site, 'main', files);
  await mergeRound(site, 0); // warm
  const [merged, read]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`merges, round ${round} of ${bench.rounds}`);
    merged.push(await mergeRound(site, round));
    read.push(await firstChanges(site, round));
  }
  return [
    figure('merge, from call to answer, p50', 'ms', merged, bench.goals.merge),
    figure('changes of 50 files, first', 'ms', read, bench.goals.requestChangesFirst),
  ];
};
