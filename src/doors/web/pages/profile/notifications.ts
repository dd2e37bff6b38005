/** Notification settings: the global level, and one per project and group. */
import { requireUser } from '../../../../core/access/call.ts';
import { findGroup } from '../../../../identity/groups/find.ts';
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
import { type View, type Visit, page, redirect } from '../../page.ts';
import { checkboxes, form, radios } from '../../parts/form.ts';
import { notificationLevelTexts } from '../../parts/notification_menu.ts';
import { type Html, html } from '../../parts/html.ts';
import { type LeveledKind, levelList, levels, notificationsPath as path } from './notification_levels.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const globalScope = { project_id: null, group_id: null };

const globalLevels = levels.filter((level) => level !== 'global');

const eventNames: Readonly<Record<CustomEvent, string>> = {
  new_note: 'New comment',
  new_release: 'New release',
  new_issue: 'New issue',
  reopen_issue: 'Issue reopened',
  close_issue: 'Issue closed',
  reassign_issue: 'Issue reassigned',
  issue_due: 'Issue due soon',
  new_merge_request: 'New merge request',
  push_to_merge_request: 'Push to a merge request',
  reopen_merge_request: 'Merge request reopened',
  close_merge_request: 'Merge request closed',
  reassign_merge_request: 'Merge request reassigned',
  change_reviewer_merge_request: 'Reviewers changed',
  merge_merge_request: 'Merge request merged',
  failed_pipeline: 'Pipeline failed',
  fixed_pipeline: 'Pipeline fixed',
  success_pipeline: 'Pipeline passed',
  moved_project: 'Project moved',
  merge_when_pipeline_succeeds: 'Merge scheduled for when the pipeline succeeds',
};

const globalForm = async (visit: Visit): Promise<Html> => {
  const { call } = visit;
  const { level, events } = await loadSetting(call.db, requireUser(call).id, globalScope);
  const enabled = completeEvents(events);
  return form(
    visit,
    { action: path, submit: 'Save changes' },
    radios({
      name: 'level',
      label: 'Notification level',
      hint: 'Default for projects and groups set to Global.',
      value: level,
      boxes: globalLevels.map((value) => {
        const [label, hint] = notificationLevelTexts[value];
        return { value, label, hint };
      }),
    }),
    checkboxes({
      name: 'events',
      label: 'Custom events',
      hint: 'In addition to threads you take part in. Used only with the level Custom.',
      values: customEvents.filter((event) => enabled[event]),
      boxes: customEvents.map((event) => ({ value: event, label: eventNames[event] })),
    }),
  );
};

const show = async (visit: Visit, of: LeveledKind, at: PageRequest): Promise<View> =>
  accountView(path, 'Notifications', html`${await globalForm(visit)}${await levelList(visit, of, at)}`);

export const notificationPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({ of: { ...oneOf(['projects', 'groups']), default: 'projects' as const }, ...pageParams }),
    handle: async (visit, { of, ...paged }) => await show(visit, of, pageRequest(paged)),
  }),
  page({
    method: 'POST',
    path,
    audience: 'user',
    params: object({
      level: oneOf(globalLevels),
      events: { ...texts({ words: ['', ...customEvents] }), default: [] as string[] },
    }),
    handle: async ({ call }, { level, events }) => {
      const sent = Object.fromEntries(customEvents.map((event) => [event, events.includes(event)]));
      await updateSetting(call, globalScope, { level, ...sent });
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
  page({
    method: 'POST',
    path: `${path}/groups/:id`,
    audience: 'user',
    params: object({ id: id(), level: oneOf(levels) }),
    handle: async ({ call }, { id: groupId, level }) => {
      const group = await findGroup(call, groupId);
      await updateSetting(call, { project_id: null, group_id: group.id }, { level });
      return redirect(`${path}?of=groups`, `The level of ${group.full_path} was saved.`);
    },
  }),
];
