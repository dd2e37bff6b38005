/** Notification settings: the global level and one per project. */
import { requireUser } from '../../../../core/access/call.ts';
import { sql } from 'kysely';
import type { NotificationLevel } from '../../../../platform/db/schema/column_types.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, oneOf, texts } from '../../../../platform/http/schema.ts';
import {
  type CustomEvent,
  completeEvents,
  customEvents,
} from '../../../../projects/notification_settings/levels.ts';
import { loadSetting } from '../../../../projects/notification_settings/queries.ts';
import { updateSetting } from '../../../../projects/notification_settings/update.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { checkboxes, form, radios, select } from '../../parts/form.ts';
import { notificationLevelTexts } from '../../parts/frame/project_actions.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectPathParts } from '../../parts/project_list.ts';
import { ownView } from './own_nav.ts';

const path = '/profile/notifications';
const own = { project_id: null, group_id: null };

const levels = ['global', 'watch', 'participating', 'mention', 'disabled', 'custom'] as const;
const ownLevels = levels.filter((level) => level !== 'global');

const eventName = (event: CustomEvent): string => {
  const words = event.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const ownForm = async (visit: Visit): Promise<Html> => {
  const { call } = visit;
  const { level, events } = await loadSetting(call.db, requireUser(call).id, own);
  const enabled = completeEvents(events);
  return form(
    visit,
    { action: path, submit: 'Save changes' },
    radios({
      name: 'level',
      label: 'Notification level',
      hint: 'Default for projects and groups set to Global.',
      value: level,
      boxes: ownLevels.map((value) => {
        const [label, hint] = notificationLevelTexts[value];
        return { value, label, hint };
      }),
    }),
    checkboxes({
      name: 'events',
      label: 'Custom events',
      hint: 'In addition to threads you take part in. Used only with the level Custom.',
      values: customEvents.filter((event) => enabled[event]),
      boxes: customEvents.map((event) => ({ value: event, label: eventName(event) })),
    }),
  );
};

/** Loads the user's levels for projects, by id of the project. */
const loadLevels = async (
  { call }: Visit,
  projectIds: readonly number[],
): Promise<Map<number | null, NotificationLevel>> => {
  if (projectIds.length === 0) return new Map();
  const rows = await call.db
    .selectFrom('notification_settings')
    .select(['project_id', 'level'])
    .where('user_id', '=', requireUser(call).id)
    .where(sql<boolean>`group_id is null`)
    .where('project_id', 'in', projectIds)
    .execute();
  return new Map(rows.map(({ project_id, level }) => [project_id, level]));
};

const projectItem = (visit: Visit, project: ListedProject, level: NotificationLevel): Html => {
  const { id: projectId, path_with_namespace } = project;
  return html`<li><span class="row tight"><a class="title" href="/${path_with_namespace}">${projectPathParts(path_with_namespace)}</a></span>
<span class="side">${form(
    visit,
    {
      action: `${path}/projects/${projectId}`,
      submit: 'Save',
      name: `Save the level of ${path_with_namespace}`,
      isQuiet: true,
    },
    select({
      name: 'level',
      id: `level_${projectId}`,
      label: 'Level',
      value: level,
      options: levels.map((one) => [one, notificationLevelTexts[one][0]] as const),
    }),
  )}</span></li>
`;
};

const projectsPart = async (visit: Visit, at: PageRequest): Promise<Html> => {
  const params = { membership: true, order_by: 'path' as const, sort: 'asc' as const, ...at };
  const { items, total } = await listProjects(visit.call, params);
  const projects = items as ListedProject[];
  const chosen = await loadLevels(
    visit,
    projects.map((project) => project.id),
  );
  const list =
    projects.length === 0
      ? html`<p class="muted">You are not a member of any project.</p>`
      : html`<ul class="list">${projects.map((project) => projectItem(visit, project, chosen.get(project.id) ?? 'global'))}</ul>`;
  return html`<section class="card" aria-labelledby="projects"><header><h2 id="projects">Projects</h2></header>${list}</section>
${pagesNav({ path, query: {}, page: at, total })}`;
};

const show = async (visit: Visit, at: PageRequest): Promise<View> =>
  ownView(path, 'Notifications', html`${await ownForm(visit)}${await projectsPart(visit, at)}`);

export const notificationPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(pageParams),
    handle: async (visit, query) => await show(visit, pageRequest(query)),
  }),
  page({
    method: 'POST',
    path,
    audience: 'user',
    params: object({
      level: oneOf(ownLevels),
      events: { ...texts({ words: ['', ...customEvents] }), default: [] as string[] },
    }),
    handle: async ({ call }, { level, events }) => {
      const sent = Object.fromEntries(customEvents.map((event) => [event, events.includes(event)]));
      await updateSetting(call, own, { level, ...sent });
      return redirect(path, 'Your notification level was saved.');
    },
  }),
  page({
    method: 'POST',
    path: `${path}/projects/:id`,
    audience: 'user',
    params: object({ id: id(), level: oneOf(levels) }),
    handle: async ({ call }, { id: projectId, level }) => {
      const project = await findProject(call, projectId);
      await updateSetting(call, { project_id: project.id, group_id: null }, { level });
      return redirect(path, `The level of ${project.full_path} was saved.`);
    },
  }),
];
