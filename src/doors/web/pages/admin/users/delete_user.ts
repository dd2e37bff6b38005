/** Deletes a user, after a confirmation that names what happens to contributions. */
import { requireActor, requireUser } from '../../../../../core/access/call.ts';
import { deleteUser } from '../../../../../identity/users/delete.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { forbidden } from '../../../../../platform/errors.ts';
import { id, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { attempt, form, input, noProblems, select, withFormStatus } from '../../../parts/form.ts';
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

type FormValues = { contributions: (typeof contributionChoices)[number]; username: string };

const deleteView = (
  visit: Visit,
  user: UserRow,
  typed: FormValues = { contributions: 'keep', username: '' },
  problems = noProblems,
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
  const view = userView(visit, { user, tab: '', title: `Delete ${user.name}` }, content);
  return withFormStatus(view, problems);
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
  page({
    method: 'POST',
    path: `${usersPath}/:id/delete`,
    audience: 'admin',
    params: object({
      id: id(),
      contributions: { ...oneOf(contributionChoices), default: 'keep' as const },
      username: optional(text({ maxLength: 2000 })),
    }),
    handle: async (visit, { id: userId, contributions, username = '' }) => {
      const { call } = visit;
      const user = await loadOther(visit, userId);
      const typed = { contributions, username };
      if (username.trim() !== user.username) {
        const fields = { username: ['The user name does not match'] };
        return deleteView(visit, user, typed, { text: null, fields });
      }
      const deletion = { hard_delete: contributions === 'erase' };
      const problems = await attempt(
        async () => await deleteUser(call.platform.store, requireActor(call), userId, deletion),
      );
      if (problems !== null) return deleteView(visit, user, typed, problems);
      return redirect(usersPath, `${user.username} was deleted.`);
    },
  }),
];
