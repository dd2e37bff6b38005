import { object } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { advancedPages } from './advanced_handlers.ts';
import { avatarPages } from './avatar.ts';
import { ciPage } from './ci_cd.ts';
import { generalPage } from './general.ts';
import { mergePage } from './merge_requests.ts';
import { settingsPages, settingsView } from './settings_section.ts';

/** GitLab's address of the pages of protected branches, tags and deploy keys. */
const repository = page({
  method: 'GET',
  path: `${projectRoot}/settings/repository`,
  audience: 'user',
  params: object(projectPath),
  handle: async (visit, { project: fullPath }) => {
    const project = await findProjectFor(visit.call, fullPath, 'read_protected_ref');
    return redirect(projectPagePath(project, 'protected_branches'));
  },
});

export const pages = [
  ...[generalPage, mergePage, ciPage].flatMap(settingsPages),
  ...advancedPages,
  ...avatarPages(
    async (visit, project, problems) =>
      await settingsView(generalPage, { visit, project, tried: { key: 'avatar', sent: {}, problems } }),
  ),
  repository,
];
