/** Deletes a user, after a confirmation that names what happens to contributions. */
import { requireActor, requireUser } from '../../../../../core/access/call.ts';
import { deleteUser } from '../../../../../identity/users/delete.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { forbidden, invalid } from '../../../../../platform/errors.ts';
import { id, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { readTexts } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { form, input, select } from '../../../parts/form.ts';
import { html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const contributionChoices = ['keep', 'erase'] as const;

const contributionLabels: [(typeof contributionChoices)[number], string][] = [
  ['keep', 'Keep contributions, under the name of a ghost user'],
  ['erase', 'Delete all contributions, and groups that only this user owns'],
];

type FormValues = { contributions: string; username: string };

const deleteView = (
  visit: Visit,
  user: UserRow,
  { values: typed, problems }: FormState<FormValues> = unsent({ contributions: 'keep', username: '' }),
): View => {
  const content = html`<div class="card danger-zone"><header><h2>Delete ${user.name}?</h2></header><div class="body">
<p>The account is removed with its keys, tokens and sessions, and with all projects in its personal namespace.
This cannot be undone. To suspend access temporarily, block the user instead.</p>
<p>If the user is the only owner of a group, choose to delete all contributions. Those groups are deleted, too.</p>
${form(
  visit,
  {
    action: `${usersPath}/${user.id}/delete`,
    submit: 'Delete user',
    danger: true,
    problems,
  },
  select({
    name: 'contributions',
    label: 'Issues, merge requests and comments elsewhere',
    value: typed.contributions,
    options: contributionLabels,
    problems,
  }),
  input({
    name: 'username',
    label: `To confirm, type ${user.username}`,
    value: typed.username,
    autocomplete: 'off',
    required: true,
    problems,
  }),
)}
<p><a href="${usersPath}/${user.id}">Cancel</a></p></div></div>`;
  return userView(visit, { user, tab: '', title: `Delete ${user.name}` }, content);
};

/** @throws Failure 403 for the administrator's own account, against a deletion by mistake */
const loadOther = async (visit: Visit, userId: number): Promise<UserRow> => {
  if (userId === requireUser(visit.call).id) throw forbidden('You cannot delete your own account.');
  return await loadChangeable(visit, userId);
};

export const deletePages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/delete`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => deleteView(visit, await loadOther(visit, params.id)),
  }),
  formPage({
    path: `${usersPath}/:id/delete`,
    audience: 'admin',
    address: { id: id() },
    fields: {
      contributions: { ...oneOf(contributionChoices), default: 'keep' as const },
      username: optional(text({ maxLength: 2000 })),
    },
    find: async (visit, address) => await loadOther(visit, address.id),
    fromSent: (sent) => readTexts(sent, ['contributions', 'username']),
    run: async ({ call }, user, { id: userId, contributions, username = '' }) => {
      if (username.trim() !== user.username) throw invalid({ username: ['The user name does not match'] });
      const deletion = { hard_delete: contributions === 'erase' };
      await deleteUser(call.platform.store, requireActor(call), userId, deletion);
      return redirect(usersPath, `${user.username} was deleted.`);
    },
    view: deleteView,
  }),
];
