/** The user name, and the deletion of the account. */
import { requireActor, requireUser } from '../../../../core/access/call.ts';
import { hasPassword } from '../../../../identity/sessions/change_password.ts';
import { confirmPassword } from '../../../../identity/sessions/confirm_password.ts';
import { deleteUser, nameSolelyOwnedGroups } from '../../../../identity/users/delete.ts';
import { updateUser } from '../../../../identity/users/update.ts';
import { invalid } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { sectionCard } from '../project_settings/settings_section.ts';
import { currentPassword } from './current_password.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const path = '/profile/account';

/** A refused form: its problems, and the name that was typed. */
type Refused = { form: 'username' | 'delete'; problems: FormProblems; typed: string };

type Shown = { visit: Visit; problems: FormProblems; typed: string | null };

/** Groups that are named; of more, only their number. */
const maxGroups = 20;

const renamePart = ({ visit, problems, typed }: Shown): Html => {
  const { username } = requireUser(visit.call);
  return sectionCard(
    { key: 'username', title: 'User name' },
    html`<p>You sign in with your user name, and others mention you by it. It is the address of your profile and of your projects.</p>
<ul class="bulleted"><li>Your projects move with it. Their old URLs redirect to the new URLs.</li>
<li>Others can take the old name, and then its redirects end.</li></ul>
${form(
  visit,
  { action: `${path}/username`, submit: 'Change user name', problems },
  input({
    name: 'username',
    label: 'User name',
    value: typed ?? username,
    autocomplete: 'username',
    required: true,
    problems,
  }),
  currentPassword(problems),
)}`,
  );
};

const deletionForm = ({ visit, problems, typed }: Shown): Html => {
  const { username } = requireUser(visit.call);
  return html`<p>This removes your account with its keys, tokens and sessions, and all projects in your personal namespace, for everyone.
Issues, merge requests and comments in other projects stay, under the name of a ghost user. <strong>This cannot be undone.</strong></p>
${form(
  visit,
  { action: `${path}/delete`, submit: 'Delete my account', danger: true, problems },
  input({
    name: 'confirm',
    label: `Type ${username} to confirm`,
    value: typed,
    autocomplete: 'off',
    required: true,
    problems,
  }),
  currentPassword(problems, 'delete_current_password'),
)}`;
};

/** Names the groups that the user must leave to another owner first. */
const ownedGroups = (paths: readonly string[], total: number): Html => html`<p>You are the only owner of ${
  total === 1 ? 'a group' : spellCount(total, 'group')
}. Make another member an owner, or delete ${total === 1 ? 'it' : 'them'}, before you delete your account.</p>
<ul class="bulleted">${paths.map((one) => html`<li><a href="/groups/${one}">${one}</a></li>`)}</ul>`;

const deletePart = async (shown: Shown): Promise<Html> => {
  const { call } = shown.visit;
  const { paths, total } = await nameSolelyOwnedGroups(call, requireUser(call).id, maxGroups);
  return sectionCard(
    { key: 'delete', title: 'Delete account', isDanger: true },
    total === 0 ? deletionForm(shown) : ownedGroups(paths, total),
  );
};

const noPassword = html`<p>Your account has no password yet. <a href="/profile/password">Set password</a> first, to change your user name or delete your account.</p>`;

const view = async (visit: Visit, refused: Refused | null = null): Promise<View> => {
  const shownFor = (name: Refused['form']): Shown => ({
    visit,
    problems: refused?.form === name ? refused.problems : noProblems,
    typed: refused?.form === name ? refused.typed : null,
  });
  const content = (await hasPassword(visit.call.db, requireUser(visit.call).id))
    ? html`${renamePart(shownFor('username'))}${await deletePart(shownFor('delete'))}`
    : noPassword;
  const shown = accountView(path, 'Account', content);
  return withFormStatus(shown, refused?.problems ?? noProblems);
};

const password = optional(text({ maxLength: 1_000 }));

const show = page({
  method: 'GET',
  path,
  audience: 'user',
  params: object({}),
  handle: async (visit) => await view(visit),
});

const rename = formPage({
  path: `${path}/username`,
  audience: 'user',
  address: {},
  fields: { username: text({ maxLength: 2_000 }), current_password: password },
  find: async () => null,
  fromSent: (sent) => fieldText(sent['username']),
  run: async ({ call }, _found, { username: typed, current_password = '' }) => {
    const username = typed.trim();
    await confirmPassword(call, current_password);
    await updateUser(call.platform, requireActor(call), requireUser(call).id, { username });
    return redirect(path, `Your user name is ${username}.`);
  },
  view: async (visit, _found, { values: typed, problems }) =>
    await view(visit, { form: 'username', problems, typed }),
});

const remove = formPage({
  path: `${path}/delete`,
  audience: 'user',
  address: {},
  fields: { confirm: text({ maxLength: 2_000 }), current_password: password },
  find: async ({ call }) => requireUser(call),
  fromSent: (sent) => fieldText(sent['confirm']),
  run: async (visit, { id, username }, { confirm, current_password = '' }) => {
    const { call } = visit;
    if (confirm.trim() !== username) throw invalid({ confirm: ['The user name does not match'] });
    await confirmPassword(call, current_password);
    await deleteUser(call.platform.store, requireActor(call), id);
    visit.changeSession(null);
    return redirect('/users/sign_in', 'Your account was deleted.');
  },
  view: async (visit, _user, { values: typed, problems }) =>
    await view(visit, { form: 'delete', problems, typed }),
});

export const accountPages = [show, rename, remove];
