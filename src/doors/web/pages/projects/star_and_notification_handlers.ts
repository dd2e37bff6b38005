/** The forms of a project's header: star, unstar, notification level. */
import { object, oneOf } from '../../../../platform/http/schema.ts';
import { updateSetting } from '../../../../projects/notification_settings/update.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { setStarred } from '../../../../projects/starrers/star.ts';
import { page, redirect } from '../../page.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { returnParam, returnPath } from '../issuables/return_path.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

const starring = (word: 'star' | 'unstar') =>
  page({
    method: 'POST',
    path: `${projectRoot}/${word}`,
    audience: 'user',
    params: object({ ...projectPath, ...returnParam }),
    handle: async (visit, { project: path, return_to }) => {
      const { call } = visit;
      const project = await findProject(call, path);
      await setStarred(call, project, word === 'star');
      const next = returnPath(visit, return_to, `/${project.full_path}`);
      return redirect(next, word === 'star' ? 'The project was starred.' : 'The star was removed.');
    },
  });

const setLevel = page({
  method: 'POST',
  path: `${projectRoot}/notification_setting`,
  audience: 'user',
  params: object({
    ...projectPath,
    ...returnParam,
    level: oneOf(['global', 'watch', 'participating', 'mention', 'disabled', 'custom']),
  }),
  handle: async (visit, { project: path, level, return_to }) => {
    const { call } = visit;
    const { id, full_path } = await findProject(call, path);
    await updateSetting(call, { project_id: id, group_id: null }, { level });
    return redirect(returnPath(visit, return_to, `/${full_path}`), 'The notification level was changed.');
  },
});

export const actionPages = [starring('star'), starring('unstar'), setLevel];
