/** The page of a user; the same URL of a group redirects to the group's page. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { userIdByName } from '../../../../identity/users/queries.ts';
import { unauthorized } from '../../../../platform/errors.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import { clearable, date, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { profileTabs } from './profile_lists.ts';
import { profilePage } from './profile_page.ts';

export const pages = [
  page({
    method: 'GET',
    path: '/-/namespaces/:name',
    audience: 'visitor',
    params: object({
      name: text({ maxLength: 1_000 }),
      tab: { ...oneOf(profileTabs), default: 'projects' as const },
      search: optional(clearable(text())),
      day: optional(clearable(date())),
      ...pageParams,
    }),
    handle: async (visit, { name, ...query }) => {
      const id = await userIdByName(visit.call.db, name);
      if (id !== undefined) {
        // As in the API, only signed-in users can see profiles.
        if (!visit.call.signedIn) throw unauthorized();
        return await profilePage(visit, id, query);
      }
      const group = await findGroup(visit.call, name);
      return redirect(`/groups/${group.full_path}`);
    },
  }),
];
