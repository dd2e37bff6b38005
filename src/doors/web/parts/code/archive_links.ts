/** Links to downloads of the files of a ref. */
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** Returns the address of an archive: `/group/project/-/archive/main/project-main.zip`. */
const archivePath = (project: Project, ref: string, format: string): string => {
  const name = `${project.path}-${ref.replaceAll('/', '-')}.${format}`;
  const encoded = ref.split('/').map(encodeURIComponent).join('/');
  return projectPagePath(project, `archive/${encoded}/${encodeURIComponent(name)}`);
};

/** Renders a link for each format. @param classes of each link */
export const archiveLinks = (project: Project, ref: string, classes = ''): Html =>
  html`${formats.map(
    (format) =>
      html`<a class="${classes}" href="${archivePath(project, ref, format)}" rel="nofollow">${icon('download')} ${format}</a>`,
  )}`;
