import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

export const tagsRoutePath = `${projectRoot}/tags`;

export const tagsPath = (project: Pick<Project, 'full_path'>): string => projectPagePath(project, 'tags');

export const tagPath = (project: Pick<Project, 'full_path'>, name: string): string =>
  `${tagsPath(project)}/${encodeURIComponent(name)}`;
