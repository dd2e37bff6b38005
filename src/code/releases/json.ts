import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { ReleaseLinksTable, ReleasesTable } from '../../platform/db/schema/code.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import {
  anything,
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { milestoneJson, milestoneShape } from '../../projects/milestones/json.ts';
import { type Code, getWebUrl } from '../repository/find_code.ts';
import { commitJson, commitShape } from '../repository/commits/json.ts';
import { loadCommits } from '../repository/refs/resolve.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import { type ReleaseMilestone, loadReleaseMilestones } from './milestones.ts';

export const releaseLinkShape = object({
  id: int,
  name: string,
  url: string,
  direct_asset_url: string,
  link_type: string,
});

const releaseMilestoneShape = object({
  ...milestoneShape.properties,
  issue_stats: object({ total: int, closed: int }),
});

const basicFields = {
  tag_name: string,
  name: string,
  description: nullable(string),
  created_at: timestamp,
  released_at: timestamp,
  upcoming_release: bool,
};

const furtherFields = {
  author: nullable(basicUserShape),
  commit: nullable(commitShape),
  milestones: array(releaseMilestoneShape),
  commit_path: nullable(string),
  tag_path: string,
  assets: object({
    count: int,
    sources: array(object({ format: string, url: string })),
    links: array(releaseLinkShape),
  }),
  evidences: array(anything),
  _links: object({ self: string, edit_url: string }),
};

export const releaseShape = object({ ...basicFields, ...furtherFields });

/** A release with its description as HTML, if requested. */
export const renderedReleaseShape = object({
  ...releaseShape.properties,
  description_html: optional(string),
});

/** A release in the list of a group, which may have the basic fields only. */
export const groupReleaseShape = object({
  ...basicFields,
  ...Object.fromEntries(Object.entries(furtherFields).map(([name, field]) => [name, optional(field)])),
});

export type ReleaseRow = Selectable<ReleasesTable>;
export type ReleaseLinkRow = Selectable<ReleaseLinksTable>;

export const releaseLinkJson = ({ id, name, url, link_type }: ReleaseLinkRow) => ({
  id,
  name,
  url,
  direct_asset_url: url,
  link_type,
});

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'];

const listSourceArchives = ({ baseUrl }: Call, projectId: number, tag: string) =>
  formats.map((format) => ({
    format,
    url: `${baseUrl}/api/v4/projects/${projectId}/repository/archive.${format}?sha=${encodeURIComponent(tag)}`,
  }));

/** Loads the links of releases, newest first. */
export const loadReleaseLinks = async (
  db: Reader | Tx['db'],
  releaseIds: number[],
): Promise<ReleaseLinkRow[]> =>
  releaseIds.length === 0
    ? []
    : await db
        .selectFrom('release_links')
        .selectAll()
        .where('release_id', 'in', releaseIds)
        .orderBy('id', 'desc')
        .execute();

/** Loads the commits of releases. A missing repository yields no commits, so that releases stay readable. */
const loadReleaseCommits = async ({ repository }: Code, releases: ReleaseRow[]) => {
  try {
    return await loadCommits(
      repository,
      releases.map(({ sha }) => sha),
    );
  } catch (error) {
    if (isGitFailure(error, 'no_repository') || isGitFailure(error, 'missing')) return new Map();
    throw error;
  }
};

const releaseMilestoneJson = ({ total, closed, ...milestone }: ReleaseMilestone, call: Call) => ({
  ...milestoneJson(milestone, call),
  issue_stats: { total, closed },
});

/** JSON of a release without its relations. */
export const toBasicRelease = (release: ReleaseRow, { now }: Pick<Call, 'now'>) => ({
  tag_name: release.tag,
  name: release.name ?? release.tag,
  description: release.description,
  created_at: formatTime(release.created_at),
  released_at: formatTime(release.released_at),
  upcoming_release: release.released_at > now,
});

/** Converts releases of one project. Loads relations in a constant number of queries. */
export const releasesJson = async (call: Call, code: Code, releases: ReleaseRow[]) => {
  const ids = releases.map(({ id }) => id);
  const [commits, users, links, milestones] = await Promise.all([
    loadReleaseCommits(code, releases),
    basicUsersById(
      call.db,
      releases.flatMap(({ author_id }) => author_id ?? []),
    ),
    loadReleaseLinks(call.db, ids),
    loadReleaseMilestones(call, code.project, ids),
  ]);
  const projectUrl = getWebUrl(call, code.project);
  const path = `/${code.project.full_path}`;
  return releases.map((release) => {
    const commit = release.sha === null ? undefined : commits.get(release.sha);
    const author = release.author_id === null ? undefined : users.get(release.author_id);
    const own = links.filter(({ release_id }) => release_id === release.id).map(releaseLinkJson);
    const sources = listSourceArchives(call, code.project.id, release.tag);
    const self = `${projectUrl}/-/releases/${encodeURIComponent(release.tag)}`;
    return {
      ...toBasicRelease(release, call),
      author: author === undefined ? null : basicUser(author, call),
      commit: commit === undefined ? null : commitJson(commit, projectUrl),
      milestones: milestones
        .filter(({ release_id }) => release_id === release.id)
        .map((milestone) => releaseMilestoneJson(milestone, call)),
      commit_path: release.sha === null ? null : `${path}/commit/${release.sha}`,
      tag_path: `${path}/-/tags/${encodeURIComponent(release.tag)}`,
      assets: { count: sources.length + own.length, sources, links: own },
      evidences: [],
      _links: { self, edit_url: `${self}/edit` },
    };
  });
};

export type ReleaseJson = Awaited<ReturnType<typeof releasesJson>>[number];
