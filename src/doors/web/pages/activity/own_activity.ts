/** The activity that a user follows: in their projects, in starred projects, and their own. */
import type { RawBuilder } from 'kysely';
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { object, oneOf } from '../../../../platform/http/schema.ts';
import { starredBy } from '../../../../projects/projects/lists/list_filters.ts';
import { byAuthor, inOwnProjects } from '../../../events/list_activities.ts';
import { page } from '../../page.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { html } from '../../parts/html.ts';
import { activityFeed } from './activity_feed.ts';
import { activityContent } from './activity_content.ts';
import { activityParams, feedParams } from './load_activity.ts';

const path = '/dashboard/activity';
const self = `${path}.atom`;

/** What else than the activity of their projects a user can follow, as values of `of`. */
const sources = { starred: 'Starred projects', own: 'Your own' } as const;
const ofParam = oneOf(['projects', 'starred', 'own'], { default: 'projects' });

type Source = keyof typeof sources | 'projects';

const toScope = (call: Call, of: Source): RawBuilder<boolean> => {
  const { id } = requireUser(call);
  if (of === 'own') return byAuthor(id);
  return of === 'starred' ? starredBy(id) : inOwnProjects(call);
};

export const ownActivityPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({ of: ofParam, ...activityParams }),
    handle: async (visit, { of, ...query }) => {
      const source = of === 'projects' ? undefined : of;
      const links = choiceTabs({
        label: 'Followed activity',
        path,
        param: 'of',
        chosen: source,
        names: sources,
        allName: 'Your projects',
      });
      const shown = { scope: toScope(visit.call, of), path, feed: self, hasProject: true };
      const content = await activityContent(visit, { ...shown, keep: { of: source }, above: links }, query);
      return { title: 'Activity', feeds: [{ title: 'Activity', path: self }], body: html`${content}` };
    },
  }),
  page({
    method: 'GET',
    path: self,
    audience: 'user',
    isFeed: true,
    params: object({ of: ofParam, ...feedParams }),
    handle: async (visit, { of, ...query }) =>
      await activityFeed(visit, { scope: toScope(visit.call, of), title: 'Activity', path, self }, query),
  }),
];
