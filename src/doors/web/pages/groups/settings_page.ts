/** The settings page of a group: each section is a form that saves only its own fields, by the operation of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { withAvatar } from '../../../../identity/avatars/store_avatar.ts';
import { type GroupColumns, groupColumns, groupParams } from '../../../../identity/groups/fields.ts';
import { type Group, findGroup, findGroupFor, findGroupOrNull } from '../../../../identity/groups/find.ts';
import { removeGroup } from '../../../../identity/groups/remove.ts';
import { transferGroup } from '../../../../identity/groups/transfer.ts';
import { updateGroup } from '../../../../identity/groups/update.ts';
import { invalid, isNotFound } from '../../../../platform/errors.ts';
import type { ReceivedFile } from '../../../../platform/http/body/received_file.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems, problemsOf, withFormStatus } from '../../parts/form_problems.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { refusal, sectionCard } from '../project_settings/settings_section.ts';
import { controlsIn, renderParts } from '../project_settings/controls.ts';
import { type Tried, checkSection, sectionGuardParts } from '../project_settings/section_guard.ts';
import { deletePart, transferPart } from './transfer_and_delete_forms.ts';
import { type GroupSection, groupSections } from './settings_sections.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { type FormState, formPage } from '../../parts/fields/form_page.ts';
import { baseField } from '../../parts/fields/guard_edits.ts';
import { toVisibilityProblem } from '../../parts/fields/visibility.ts';
import { trimSlashes } from '../../../../platform/trim.ts';

const routePath = `${groupRoot}/settings`;
const groupPath = { group: text({ maxLength: 1_000 }) };

/** Forms that are not saved by `updateGroup`. */
const dangers = [
  { key: 'transfer', title: 'Transfer group' },
  { key: 'delete', title: 'Delete group' },
] as const;

type GroupSettingsContext = { visit: Visit; group: Group; tried: Tried | null };

/** An empty avatar removes it, as in the API. */
const removeAvatarForm = (visit: Visit, action: string): Html =>
  form(visit, { action, submit: 'Remove avatar', danger: true }, hidden('avatar', ''));

const allParams = { ...groupParams, name: optional(text()), path: optional(text()) };

const schemasOf = ({ names }: GroupSection) =>
  Object.fromEntries(names.map((name) => [name, allParams[name]]));

/** The avatar is replaced as a whole, so nothing of it is compared. */
const comparedSchemas = (section: GroupSection) => (section.key === 'avatar' ? {} : schemasOf(section));

const sectionPart = (
  { visit, group, tried }: GroupSettingsContext,
  parent: Group | null,
  section: GroupSection,
): Html => {
  const { key, title, intro } = section;
  const refused = tried?.key === key ? tried : null;
  const stored: Record<string, unknown> = group;
  const text = (name: string): string => fieldText(refused?.sent[name] ?? stored[name]);
  const problems = refused?.problems ?? noProblems;
  const path = groupPagePath(group, 'settings');
  const action = `${path}/${key}`;
  const fields = section.fields({ visit, group, parent, text, isOn: (name) => text(name) === '1', problems });
  const compared = { schemas: comparedSchemas(section), controls: controlsIn(fields) };
  const guard = sectionGuardParts(compared, group, refused, path);
  const submit = guard.card === null ? (section.submit ?? guard.submit) : guard.submit;
  return sectionCard(
    { key, title },
    html`${intro !== undefined && html`<p class="hint">${intro}</p>`}${form(visit, { action, submit, problems, hasFiles: section.hasFiles === true }, ...renderParts(fields), guard.base)}${guard.card}${key === 'avatar' && group.avatar !== null && removeAvatarForm(visit, action)}`,
  );
};

const settingsView = async (context: GroupSettingsContext): Promise<View> => {
  const { visit, group, tried } = context;
  const parent = group.parent_id === null ? null : await findGroupOrNull(visit.call, group.parent_id);
  const sections = [...groupSections, ...dangers];
  const refused = sections.find(({ key }) => key === tried?.key)?.title;
  const problemsFor = (key: string): FormProblems => (tried?.key === key ? tried.problems : noProblems);
  const typed = tried?.key === 'transfer' ? fieldText(tried.sent['parent']) : null;
  const danger = html`${transferPart({ visit, group, problems: problemsFor('transfer') }, typed)}${deletePart({ visit, group, problems: problemsFor('delete') })}`;
  const content = html`${refused !== undefined && refusal(tried?.key ?? '', refused)}${groupSections.map((section) => sectionPart(context, parent, section))}${danger}`;
  const view = groupView(visit, { group, title: 'General settings', noun: 'settings' }, content);
  return withFormStatus(view, tried?.problems ?? noProblems);
};

const findToEdit = async (call: Call, path: string): Promise<Group> =>
  await findGroupFor(call, path, 'admin_group');

type Sent = { name?: string; path?: string };

/** Converts the parameters of a form to changes. */
const toChanges = ({ name, path, ...params }: Sent & Record<string, unknown>): GroupColumns & Sent => ({
  ...groupColumns(params),
  ...(name !== undefined && { name }),
  ...(path !== undefined && { path }),
});

type AvatarSent = { avatar?: ReceivedFile | null };

/** What all forms of the page share. */
const settingsForm = (key: string) => ({
  path: `${routePath}/${key}`,
  audience: 'user' as const,
  address: groupPath,
  find: async ({ call }: Visit, { group }: { group: string }) => await findToEdit(call, group),
  fromSent: (sent: RawParams) => sent,
  view: async (visit: Visit, group: Group, { values: sent, problems }: FormState<RawParams>) =>
    await settingsView({ visit, group, tried: { key, sent, problems } }),
});

const savePage = (section: GroupSection): AnyPage => {
  const { key, names, saved } = section;
  return formPage({
    ...settingsForm(key),
    fields: { ...schemasOf(section), ...baseField },
    toProblems: (problems) => moveUnknownToText(toVisibilityProblem(problems), names),
    run: async ({ call }, group, { group: _path, base: _base, ...params }, sent) => {
      let stored = group;
      const edit = toChanges(params);
      const check = checkSection(comparedSchemas(section), sent, edit);
      await withAvatar(call.platform, (params as AvatarSent).avatar, async (avatar) => {
        stored = await updateGroup(call, group.id, { ...edit, ...avatar, ...check });
      });
      return redirect(groupPagePath(stored, 'settings'), saved);
    },
  });
};

const transfer = formPage({
  ...settingsForm('transfer'),
  fields: { parent: optional(text({ maxLength: 1_000 })) },
  run: async ({ call }, group, { parent = '' }) => {
    const target = trimSlashes(parent.trim());
    await transferGroup(call, group.id, target === '' ? null : target);
    const place = target === '' ? 'to the top level' : `into ${target}`;
    return redirect(
      groupPagePath(await findGroup(call, group.id), 'settings'),
      `The group was moved ${place}.`,
    );
  },
  // A hidden parent group counts as missing.
  readFailure: (error) =>
    isNotFound(error) ? { text: null, fields: { parent: ['was not found'] } } : problemsOf(error),
});

const remove = formPage({
  ...settingsForm('delete'),
  fields: { confirm: optional(text({ maxLength: 1_000 })) },
  run: async ({ call }, group, { confirm = '' }) => {
    if (confirm.trim() !== group.full_path) throw invalid({ confirm: ['Type the full path of the group'] });
    await removeGroup(call, group);
    return redirect('/dashboard/groups', `The group ${group.full_path} was deleted.`);
  },
});

export const pages = [
  page({
    method: 'GET',
    path: routePath,
    audience: 'user',
    params: object(groupPath),
    handle: async (visit, { group: path }) =>
      await settingsView({ visit, group: await findToEdit(visit.call, path), tried: null }),
  }),
  ...groupSections.map(savePage),
  transfer,
  remove,
];
