/** Lists commits, and reads one commit with its stats and pipeline. */
import type { Call } from '../../../core/access/call.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit, CommitWalk, Oid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { isPlainPath, stripSlashes } from '../files/paths.ts';
import { type Code, getWebUrl } from '../find_code.ts';
import { type StatsJson, commitJson, statsJson, trailersJson } from './json.ts';
import { loadLastPipelines } from '../statuses/last_pipelines.ts';
import { briefPipelineJson } from '../statuses/pipeline_summary.ts';
import { branchPrefix, requireRevision, tagPrefix } from '../refs/resolve.ts';

export type CommitFilter = {
  ref_name?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  path?: string | undefined;
  author?: string | undefined;
  /** Part of the message, ignoring case. */
  search?: string | undefined;
  all?: boolean | undefined;
  with_stats?: boolean | undefined;
  trailers?: boolean | undefined;
  first_parent?: boolean | undefined;
  order?: 'default' | 'topo' | undefined;
};

/** Maximum branches, and tags, to start from when listing all commits. */
const maxRefs = 5_000;

const listTips = async ({ repository }: Code, prefix: string): Promise<Oid[]> => {
  const page = { offset: 0, limit: maxRefs };
  const { refs } = await repository.ask('refs.list', { prefix, sort: 'name', ...page });
  return refs.flatMap(({ commit }) => (commit === null ? [] : [commit]));
};

const resolveStarts = async (code: Code, { ref_name, all = false }: CommitFilter): Promise<Oid[]> => {
  if (all)
    return [...new Set([...(await listTips(code, branchPrefix)), ...(await listTips(code, tagPrefix))])];
  if ((ref_name === undefined || ref_name === '') && code.project.default_branch === null) return [];
  const revision = ref_name === undefined || ref_name === '' ? 'HEAD' : ref_name;
  const range = /^(.+?)\.\.([^.].*)$/s.exec(revision);
  if (range !== null) throw notFound('Commit');
  return [(await requireRevision(code, revision)).commit];
};

const seconds = (time: number): number => Math.floor(time / 1_000);

const toCommitWalk = (filter: CommitFilter): Partial<CommitWalk> => {
  const { path, since, until, author, search, first_parent, order } = filter;
  return {
    ...(path !== undefined && path !== '' && { path: stripSlashes(path) }),
    ...(since !== undefined && { since: seconds(since) }),
    ...(until !== undefined && { until: seconds(until) }),
    ...(author !== undefined && author !== '' && { author }),
    ...(search !== undefined && search !== '' && { search }),
    ...(first_parent === true && { first_parent }),
    ...(order === 'topo' && { order: 'topo' as const }),
  };
};

/** Returns the member `stats`: counts of changed lines. Returns nothing for a commit too large to count. */
const statsMember = async ({ repository }: Code, { id }: Commit): Promise<{ stats?: StatsJson }> => {
  try {
    return { stats: statsJson(await repository.ask('commits.stats', { id })) };
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return {};
    throw error;
  }
};

/** Lists commits reachable from one, newest first, without their total: counting walks the whole history. */
export const walkCommits = async (
  { repository }: Pick<Code, 'repository'>,
  from: Oid,
  filter: CommitFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<Commit[]> => {
  if (!isPlainPath(stripSlashes(filter.path ?? ''))) return [];
  const walk = { from: [from], skip, limit, ...toCommitWalk(filter) };
  return (await repository.ask('commits.list', walk)).commits;
};

/** Diffs of one list that wait for a git process at once. */
const concurrentCounts = 8;

type ListedCommit = ReturnType<typeof commitJson> &
  Partial<ReturnType<typeof trailersJson>> & { stats?: StatsJson };

/** Returns a page of commits, newest first, and their exact total. */
export const listCommits = async (
  call: Call,
  code: Code,
  filter: CommitFilter,
  { limit, offset }: PageRequest,
): Promise<Page<ListedCommit>> => {
  const from = await resolveStarts(code, filter);
  if (from.length === 0 || !isPlainPath(stripSlashes(filter.path ?? ''))) return { items: [], total: 0 };
  const { commits, total } = await code.repository.ask('commits.list', {
    from,
    skip: offset,
    limit,
    count: true,
    ...toCommitWalk(filter),
  });
  const projectUrl = getWebUrl(call, code.project);
  const items: ListedCommit[] = commits.map((commit) => ({
    ...commitJson(commit, projectUrl),
    ...(filter.trailers === true && trailersJson(commit)),
  }));
  if (filter.with_stats === true)
    await forEachConcurrently(commits.entries(), concurrentCounts, async ([at, commit]) => {
      Object.assign(items[at] ?? {}, await statsMember(code, commit));
    });
  return { items, total: total ?? offset + commits.length };
};

/** Loads the commit's latest pipeline, if the caller may read pipelines. */
const loadLastPipeline = async (call: Call, project: Project, sha: string) => {
  const row = (await loadLastPipelines(call, project, [sha])).get(sha);
  if (row === undefined) return { status: null, last_pipeline: null };
  const last_pipeline = briefPipelineJson(row, { baseUrl: call.baseUrl, full_path: project.full_path });
  return { status: last_pipeline.status, last_pipeline };
};

/** Lists commits with their project and latest pipeline, which take one statement. */
export const searchCommits = async (call: Call, code: Code, filter: CommitFilter, page: PageRequest) => {
  const { items, total } = await listCommits(call, code, filter, page);
  const { id: project_id, full_path } = code.project;
  const ids = items.map(({ id }) => id);
  const pipelines = await loadLastPipelines(call, code.project, ids);
  const site = { baseUrl: call.baseUrl, full_path };
  const commits = items.map((commit) => {
    const row = pipelines.get(commit.id);
    return { ...commit, last_pipeline: row === undefined ? null : briefPipelineJson(row, site), project_id };
  });
  return { items: commits, total };
};

/** Converts one commit, with stats and last pipeline. */
export const singleCommitJson = async (call: Call, code: Code, commit: Commit, stats = true) => ({
  ...commitJson(commit, getWebUrl(call, code.project)),
  ...(stats && (await statsMember(code, commit))),
  ...(await loadLastPipeline(call, code.project, commit.id)),
  project_id: code.project.id,
});
