/** The form that sets the notification level of a group. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { object, oneOf, text } from '../../../../platform/http/schema.ts';
import { updateSetting } from '../../../../projects/notification_settings/update.ts';
import { page, redirect } from '../../page.ts';
import { groupRoot } from '../../project_and_group_pages.ts';

export const pages = [
  page({
    method: 'POST',
    path: `${groupRoot}/notification_setting`,
    audience: 'user',
    params: object({
      group: text({ maxLength: 1_000 }),
      level: oneOf(['global', 'watch', 'participating', 'mention', 'disabled', 'custom']),
    }),
    handle: async ({ call }, { group: path, level }) => {
      const { id, full_path } = await findGroup(call, path);
      await updateSetting(call, { project_id: null, group_id: id }, { level });
      return redirect(`/groups/${full_path}`, 'The notification level was changed.');
    },
  }),
];
