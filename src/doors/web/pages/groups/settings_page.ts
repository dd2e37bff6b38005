/** The settings page of a group: each section is a form that saves only its own fields, by the operation of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { withAvatar } from '../../../../identity/avatars/store_avatar.ts';
import { type GroupColumns, groupColumns, groupParams } from '../../../../identity/groups/fields.ts';
import { type Group, findGroup, findGroupFor, findGroupOrNull } from '../../../../identity/groups/find.ts';
import { removeGroup } from '../../../../identity/groups/remove.ts';
import { transferGroup } from '../../../../identity/groups/transfer.ts';
import { updateGroup } from '../../../../identity/groups/update.ts';
import { Failure } from '../../../../platform/errors.ts';
import type { ReceivedFile } from '../../../../platform/http/body/received_file.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { type FormProblems, attempt, form, hidden, noProblems } from '../../parts/form.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { refusal, sectionCard } from '../project_settings/settings_section.ts';
import { deletePart, transferPart } from './transfer_and_delete_forms.ts';
import { type GroupSection, groupSections } from './settings_sections.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { toVisibilityProblem } from '../../parts/fields/visibility.ts';
import { trimSlashes } from '../../../../platform/trim.ts';

const routePath = `${groupRoot}/settings`;
const groupPath = { group: text({ maxLength: 1_000 }) };

/** Forms that are not saved by `updateGroup`. */
const dangers = [
  { key: 'transfer', title: 'Transfer group' },
  { key: 'delete', title: 'Delete group' },
] as const;

/** A submitted form that was refused. */
type Tried = { key: string; sent: RawParams; problems: FormProblems };

type Given = { visit: Visit; group: Group; tried: Tried | null };

/** An empty avatar removes it, as in the API. */
const removeAvatarForm = (visit: Visit, action: string): Html =>
  form(visit, { action, submit: 'Remove avatar', danger: true }, hidden('avatar', ''));

const sectionPart = ({ visit, group, tried }: Given, parent: Group | null, section: GroupSection): Html => {
  const { key, title, intro, submit = 'Save changes' } = section;
  const refused = tried?.key === key ? tried : null;
  const stored: Record<string, unknown> = group;
  const text = (name: string): string => fieldText(refused?.sent[name] ?? stored[name]);
  const problems = refused?.problems ?? noProblems;
  const action = `${groupPagePath(group, 'settings')}/${key}`;
  const fields = section.fields({ visit, group, parent, text, isOn: (name) => text(name) === '1', problems });
  return sectionCard(
    { key, title },
    html`${intro !== undefined && html`<p class="hint">${intro}</p>`}${form(visit, { action, submit, problems, hasFiles: section.hasFiles === true }, ...fields)}${key === 'avatar' && group.avatar !== null && removeAvatarForm(visit, action)}`,
  );
};

const settingsView = async (given: Given): Promise<View> => {
  const { visit, group, tried } = given;
  const parent = group.parent_id === null ? null : await findGroupOrNull(visit.call, group.parent_id);
  const sections = [...groupSections, ...dangers];
  const refused = sections.find(({ key }) => key === tried?.key)?.title;
  const problemsOf = (key: string): FormProblems => (tried?.key === key ? tried.problems : noProblems);
  const typed = tried?.key === 'transfer' ? fieldText(tried.sent['parent']) : null;
  const danger = html`${transferPart({ visit, group, problems: problemsOf('transfer') }, typed)}${deletePart({ visit, group, problems: problemsOf('delete') })}`;
  const content = html`${refused !== undefined && refusal(tried?.key ?? '', refused)}${groupSections.map((section) => sectionPart(given, parent, section))}${danger}`;
  const view = groupView(visit, { group, title: 'General settings', noun: 'settings' }, content);
  return tried === null ? view : { ...view, status: 422 };
};

const allParams = { ...groupParams, name: optional(text()), path: optional(text()) };

const findToEdit = async (call: Call, path: unknown): Promise<Group> =>
  await findGroupFor(call, String(path), 'admin_group');

type Sent = { name?: string; path?: string };

/** Converts the parameters of a form to changes. */
const toChanges = ({ name, path, ...params }: Sent & Record<string, unknown>): GroupColumns & Sent => ({
  ...groupColumns(params),
  ...(name !== undefined && { name }),
  ...(path !== undefined && { path }),
});

type AvatarSent = { avatar?: ReceivedFile | null };

const savePage = ({ key, names, saved }: GroupSection): AnyPage =>
  page({
    method: 'POST',
    path: `${routePath}/${key}`,
    audience: 'user',
    params: object({ ...groupPath, ...Object.fromEntries(names.map((name) => [name, allParams[name]])) }),
    invalid: async (visit, sent, fields) => {
      const group = await findToEdit(visit.call, sent['group']);
      const problems = moveUnknownToText({ text: null, fields }, names);
      return await settingsView({ visit, group, tried: { key, sent, problems } });
    },
    handle: async (visit, { group: path, ...sent }) => {
      const { call } = visit;
      const group = await findToEdit(call, path);
      let stored = group;
      const problems = await attempt(
        async () =>
          await withAvatar(call.platform, (sent as AvatarSent).avatar, async (avatar) => {
            stored = await updateGroup(call, group.id, { ...toChanges(sent), ...avatar });
          }),
      );
      if (problems === null) return redirect(groupPagePath(stored, 'settings'), saved);
      const tried = { key, sent, problems: moveUnknownToText(toVisibilityProblem(problems), names) };
      return await settingsView({ visit, group, tried });
    },
  });

/** A hidden parent group counts as missing. */
const attemptTransfer = async (call: Call, group: Group, parent: string): Promise<FormProblems | null> => {
  const wrong = (problem: string): FormProblems => ({ text: null, fields: { parent: [problem] } });
  try {
    return await attempt(
      async () => void (await transferGroup(call, group.id, parent === '' ? null : parent)),
    );
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return wrong('was not found');
  }
};

const transfer = page({
  method: 'POST',
  path: `${routePath}/transfer`,
  audience: 'user',
  params: object({ ...groupPath, parent: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { group: path, parent = '' }) => {
    const { call } = visit;
    const group = await findToEdit(call, path);
    const target = trimSlashes(parent.trim());
    const problems = await attemptTransfer(call, group, target);
    if (problems !== null)
      return await settingsView({ visit, group, tried: { key: 'transfer', sent: { parent }, problems } });
    const place = target === '' ? 'to the top level' : `into ${target}`;
    return redirect(
      groupPagePath(await findGroup(call, group.id), 'settings'),
      `The group was moved ${place}.`,
    );
  },
});

const remove = page({
  method: 'POST',
  path: `${routePath}/delete`,
  audience: 'user',
  params: object({ ...groupPath, confirm: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { group: path, confirm = '' }) => {
    const group = await findToEdit(visit.call, path);
    if (confirm.trim() !== group.full_path) {
      const problems = { text: null, fields: { confirm: ['Type the full path of the group'] } };
      return await settingsView({ visit, group, tried: { key: 'delete', sent: {}, problems } });
    }
    await removeGroup(visit.call, group);
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
