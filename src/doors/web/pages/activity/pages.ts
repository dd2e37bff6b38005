/** The activity pages of projects and groups, the address of a user's activity, and the feeds of all of them. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { loadUser, userIdByName } from '../../../../identity/users/queries.ts';
import { notFound, unauthorized } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { byAuthor, inGroup, inProject } from '../../../events/list_activities.ts';
import { page, redirect } from '../../page.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { groupRoot, projectRoot } from '../../project_and_group_pages.ts';
import { activityContent } from './activity_content.ts';
import { activityFeed } from './activity_feed.ts';
import { activityParams, feedParams } from './load_activity.ts';
import { ownActivityPages } from './own_activity.ts';

const shown = { title: 'Activity', noun: 'activity', hasHeading: true } as const;

const groupPath = { group: text({ maxLength: 1_000 }) };

const projectPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/activity`,
    audience: 'visitor',
    params: object({ ...projectPath, ...activityParams }),
    handle: async (visit, { project: name, ...query }) => {
      const project = await findProject(visit.call, name);
      const path = projectPagePath(project, 'activity');
      const feed = `${path}.atom`;
      const listed = { scope: inProject(project.id), path, feed, hasProject: false };
      const view = { feeds: [{ title: `${project.full_path} activity`, path: feed }] };
      return projectView(visit, { project, ...shown, view }, await activityContent(visit, listed, query));
    },
  }),
  page({
    method: 'GET',
    path: `${projectRoot}/activity.atom`,
    audience: 'visitor',
    isFeed: true,
    params: object({ ...projectPath, ...feedParams }),
    handle: async (visit, { project: name, ...query }) => {
      const project = await findProject(visit.call, name);
      const path = projectPagePath(project, 'activity');
      const title = `${project.full_path} activity`;
      const feed = { scope: inProject(project.id), title, path, self: `${path}.atom` };
      return await activityFeed(visit, feed, query);
    },
  }),
];

const groupPages = [
  page({
    method: 'GET',
    path: `${groupRoot}/activity`,
    audience: 'visitor',
    params: object({ ...groupPath, ...activityParams }),
    handle: async (visit, { group: name, ...query }) => {
      const group = await findGroup(visit.call, name);
      const path = groupPagePath(group, 'activity');
      const feed = `${path}.atom`;
      const listed = { scope: inGroup(group.id), path, feed, hasProject: true };
      const view = { feeds: [{ title: `${group.full_path} activity`, path: feed }] };
      return groupView(visit, { group, ...shown, view }, await activityContent(visit, listed, query));
    },
  }),
  page({
    method: 'GET',
    path: `${groupRoot}/activity.atom`,
    audience: 'visitor',
    isFeed: true,
    params: object({ ...groupPath, ...feedParams }),
    handle: async (visit, { group: name, ...query }) => {
      const group = await findGroup(visit.call, name);
      const path = groupPagePath(group, 'activity');
      const title = `${group.full_path} activity`;
      const feed = { scope: inGroup(group.id), title, path, self: `${path}.atom` };
      return await activityFeed(visit, feed, query);
    },
  }),
];

const userPages = [
  page({
    method: 'GET',
    path: '/users/:name/activity',
    audience: 'anyone',
    params: object({ name: text() }),
    handle: async (_visit, { name }) =>
      await Promise.resolve(redirect(`/${encodeURIComponent(name)}?tab=activity`)),
  }),
  page({
    method: 'GET',
    path: '/users/:name/activity.atom',
    audience: 'visitor',
    isFeed: true,
    params: object({ name: text(), ...feedParams }),
    handle: async (visit, { name, ...query }) => {
      const { call } = visit;
      // As in the API, only signed-in users can see profiles.
      if (!call.signedIn) throw unauthorized();
      const id = await userIdByName(call.db, name);
      if (id === undefined) throw notFound();
      const { username, state } = await loadUser(call.db, id);
      if (state === 'blocked' && !call.admin) throw notFound();
      const path = `/${username}?tab=activity`;
      const feed = { scope: byAuthor(id), title: `@${username} activity`, path };
      return await activityFeed(visit, { ...feed, self: `/users/${username}/activity.atom` }, query);
    },
  }),
];

export const pages = [...projectPages, ...groupPages, ...userPages, ...ownActivityPages];
