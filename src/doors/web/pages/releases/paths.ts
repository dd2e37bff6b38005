import type { Project } from '../../../../projects/projects/find.ts';
import { text } from '../../../../platform/http/schema.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

export const releasesRoutePath = `${projectRoot}/releases`;

export const releasesPath = (project: Pick<Project, 'full_path'>): string =>
  projectPagePath(project, 'releases');

export const releasePath = (project: Pick<Project, 'full_path'>, tag: string): string =>
  `${releasesPath(project)}/${encodeURIComponent(tag)}`;

/** Parameters of every page of one release. */
export const releaseParams = {
  ...projectPath,
  tag: text({ maxLength: 1_000, description: 'name of the tag' }),
};
