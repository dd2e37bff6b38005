/** The Atom feed of releases. */
import { findCode } from '../../../../code/repository/find_code.ts';
import { listReleases } from '../../../../code/releases/find_releases.ts';
import { releasesJson } from '../../../../code/releases/json.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { page } from '../../page.ts';
import { atomFeed } from '../../parts/feeds/atom.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { markdownTexts } from '../../parts/markdown.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { releasePath, releasesPath } from './paths.ts';

export const releasesFeedPath = (project: Pick<Project, 'full_path'>): string =>
  projectPagePath(project, 'releases.atom');

/** Names the feed in the head of a page. */
export const releasesFeedLink = (project: Pick<Project, 'full_path'>): { title: string; path: string } => ({
  title: `${project.full_path} releases`,
  path: releasesFeedPath(project),
});

export const feedPage = page({
  method: 'GET',
  path: `${projectRoot}/releases.atom`,
  audience: 'visitor',
  isFeed: true,
  params: object(projectPath),
  handle: async (visit, params) => {
    const { call } = visit;
    const code = await findCode(call, params.project, 'read_release');
    const { project } = code;
    const order = { order_by: 'released_at', sort: 'desc' } as const;
    const { items } = await listReleases(call.db, project.id, order, pageRequest({}));
    const notes = await markdownTexts(
      call,
      items.map(({ description }) => description ?? ''),
      { project, isAbsolute: true },
    );
    const releases = await releasesJson(call, code, items);
    return atomFeed(visit, {
      title: `${project.full_path} releases`,
      path: releasesPath(project),
      self: releasesFeedPath(project),
      entries: releases.map(({ tag_name, name, released_at, author }, at) => ({
        title: name,
        path: releasePath(project, tag_name),
        updated: Date.parse(released_at),
        author: author === null ? null : { name: author.name, uri: author.web_url },
        ...(notes[at] !== undefined && { content: notes[at] }),
      })),
    });
  },
});
