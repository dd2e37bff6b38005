/** The pages of a project itself, and the pages that create projects. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { isNotFound } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Redirect, type Visit, page, redirect } from '../../page.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { dashedForm } from '../../request/project_paths.ts';
import { actionPages } from './star_and_notification_handlers.ts';
import { archivePages } from './download_archive.ts';
import { forkPages } from './forks.ts';
import { importAgainPages } from './import_again.ts';
import { importProjectPages } from './import_project.ts';
import { projectPage } from './project_page.ts';
import { newPages } from './new_project.ts';
import { starrerPages } from './starrers.ts';
import { updateForkPages } from './update_fork.ts';

/** Redirects a path that names no visible project: to a group, or to the current address of a page. */
const otherPlace = async ({ call }: Visit, path: string): Promise<Redirect> => {
  const dashed = dashedForm(`/${path}`);
  if (dashed !== null) return redirect(dashed);
  const group = await findGroup(call, path);
  return redirect(`/groups/${group.full_path}`);
};

export const pages = [
  ...actionPages,
  ...archivePages,
  ...starrerPages,
  ...forkPages,
  ...updateForkPages,
  ...newPages,
  ...importProjectPages,
  ...importAgainPages,
  page({
    method: 'GET',
    path: projectRoot,
    audience: 'visitor',
    params: object(projectPath),
    handle: async (visit, { project }) => {
      try {
        return await projectPage(visit, project);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return await otherPlace(visit, project);
      }
    },
  }),
];
