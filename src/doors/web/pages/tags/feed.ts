/** The Atom feed of tags, the newest first. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { tagsJson } from '../../../../code/repository/tags/json.ts';
import { listTags } from '../../../../code/repository/tags/list.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { RawPage, Visit } from '../../page.ts';
import { type FeedEntry, atomFeed } from '../../parts/feeds/atom.ts';
import { tagPath, tagsPath } from './paths.ts';

export const tagsFeedPath = (project: Pick<Project, 'full_path'>): string =>
  `${tagsPath(project)}?format=atom`;

/** Names the feed in the head of a page. */
export const tagsFeedLink = (project: Pick<Project, 'full_path'>): { title: string; path: string } => ({
  title: `${project.full_path} tags`,
  path: tagsFeedPath(project),
});

type Tag = Awaited<ReturnType<typeof tagsJson>>[number];

/** A tag of something else than a commit has no time. */
const toEntry = (project: Project, { name, message, commit, release, created_at }: Tag): FeedEntry => ({
  title: name,
  path: tagPath(project, name),
  updated: Date.parse(created_at ?? commit?.committed_date ?? '1970-01-01T00:00:00Z'),
  author: commit === null ? null : { name: commit.author_name, email: commit.author_email },
  summary: release?.description ?? message ?? commit?.title ?? '',
});

export const tagsFeed = async (visit: Visit, code: Code): Promise<RawPage> => {
  const { project } = code;
  const { items } = await listTags(code, { order_by: 'updated', sort: 'desc' }, pageRequest({}));
  const tags = await tagsJson(visit.call, code, items);
  return atomFeed(visit, {
    title: `${project.full_path} tags`,
    path: tagsPath(project),
    self: tagsFeedPath(project),
    entries: tags.map((tag) => toEntry(project, tag)),
  });
};
