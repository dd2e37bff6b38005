/** The pages of own work, and lists of projects. */
import { toAsciiUrl } from '../../../../core/settings/setting_effects.ts';
import { object } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { issuePages } from './own_issues.ts';
import { mergeRequestPages } from './own_merge_requests.ts';
import { ownWorkView } from './start_page.ts';
import { projectListPages } from './project_lists.ts';
import { todoPages } from './todos.ts';

export const pages = [
  page({
    method: 'GET',
    path: '/',
    audience: 'anyone',
    params: object({}),
    handle: async (visit) => {
      const { signedIn, settings } = visit.call;
      if (signedIn) return await ownWorkView(visit);
      return redirect(toAsciiUrl(settings.home_page_url) ?? '/users/sign_in');
    },
  }),
  ...issuePages,
  ...mergeRequestPages,
  ...todoPages,
  ...projectListPages,
];
