/** Links to downloads of the files of a ref. */
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { encodePath } from './encode_path.ts';

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

type Archived = {
  ref: string;
  /** Folder; empty: all files. */
  path?: string;
};

/** Returns the address of an archive: `/group/project/-/archive/main/project-main.zip`. */
const archivePath = (project: Project, { ref, path = '' }: Archived, format: string): string => {
  const folder = path === '' ? '' : `-${path}`;
  const name = `${project.path}-${ref}${folder}.${format}`.replaceAll('/', '-');
  const query = path === '' ? '' : `?${new URLSearchParams({ path }).toString()}`;
  return projectPagePath(
    project,
    `archive/${encodePath(ref)}/${encodeURIComponent(name.toWellFormed())}${query}`,
  );
};

/** Renders a link for each format. @param classes of each link */
export const archiveLinks = (project: Project, archived: Archived, classes = ''): Html =>
  html`${formats.map(
    (format) =>
      html`<a class="${classes}" href="${archivePath(project, archived, format)}" rel="nofollow">${icon('download')} ${format}</a>`,
  )}`;
