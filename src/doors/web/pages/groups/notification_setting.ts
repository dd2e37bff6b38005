/** The form that sets the notification level of a group. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { object, oneOf, text } from '../../../../platform/http/schema.ts';
import { updateSetting } from '../../../../projects/notification_settings/update.ts';
import { page, redirect } from '../../page.ts';
import { returnParam, returnPath } from '../issuables/return_path.ts';
import { groupRoot } from '../../project_and_group_pages.ts';

export const pages = [
  page({
    method: 'POST',
    path: `${groupRoot}/notification_setting`,
    audience: 'user',
    params: object({
      group: text({ maxLength: 1_000 }),
      ...returnParam,
      level: oneOf(['global', 'watch', 'participating', 'mention', 'disabled', 'custom']),
    }),
    handle: async (visit, { group: path, level, return_to }) => {
      const { call } = visit;
      const { id, full_path } = await findGroup(call, path);
      await updateSetting(call, { project_id: null, group_id: id }, { level });
      const next = returnPath(visit, return_to, `/groups/${full_path}`);
      return redirect(next, 'The notification level was changed.');
    },
  }),
];
