/** The activity pages of projects and groups, and the address of a user's activity. */
import type { RawBuilder } from 'kysely';
import { findGroup } from '../../../../identity/groups/find.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { inGroup, inProject } from '../../../events/list_activities.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { activityList } from '../../parts/timeline/activity_list.ts';
import { groupRoot, projectRoot } from '../../project_and_group_pages.ts';
import { type ActivityQuery, activityKinds, activityParams, loadActivity } from './load_activity.ts';

type ActivityScope = { scope: RawBuilder<boolean>; path: string; hasProject: boolean };

const content = async ({ call }: Visit, shown: ActivityScope, query: ActivityQuery): Promise<Html> => {
  const { scope, path, hasProject } = shown;
  const { items, total } = await loadActivity(call, scope, query);
  const { action } = query;
  return html`<h1>Activity</h1>
${choiceTabs({ label: 'Kind of activity', path, param: 'action', chosen: action, names: activityKinds })}
<section class="card">${activityList(items, { hasProject })}</section>
${pagesNav({ path, query: { action }, page: pageRequest(query), total })}`;
};

const shown = { title: 'Activity', noun: 'activity', hasHeading: true } as const;

export const pages = [
  page({
    method: 'GET',
    path: `${projectRoot}/activity`,
    audience: 'visitor',
    params: object({ ...projectPath, ...activityParams }),
    handle: async (visit, { project: name, ...query }) => {
      const project = await findProject(visit.call, name);
      const path = projectPagePath(project, 'activity');
      const activityScope = { scope: inProject(project.id), path, hasProject: false };
      return projectView(visit, { project, ...shown }, await content(visit, activityScope, query));
    },
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/activity`,
    audience: 'visitor',
    params: object({ group: text({ maxLength: 1_000 }), ...activityParams }),
    handle: async (visit, { group: name, ...query }) => {
      const group = await findGroup(visit.call, name);
      const path = groupPagePath(group, 'activity');
      const activityScope = { scope: inGroup(group.id), path, hasProject: true };
      return groupView(visit, { group, ...shown }, await content(visit, activityScope, query));
    },
  }),
  page({
    method: 'GET',
    path: '/users/:name/activity',
    audience: 'anyone',
    params: object({ name: text() }),
    handle: async (_visit, { name }) =>
      await Promise.resolve(redirect(`/${encodeURIComponent(name)}?tab=activity`)),
  }),
];
