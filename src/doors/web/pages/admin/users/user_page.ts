/** The page of a user for administrators: facts of the account, and actions on it. */
import { requireUser } from '../../../../../core/access/call.ts';
import { listPasskeys } from '../../../../../identity/passkeys/queries.ts';
import { findImpersonationProblem } from '../../../../../identity/sessions/impersonate.ts';
import { identitiesByUser, personalNamespaces } from '../../../../../identity/users/queries.ts';
import { type UserRow, loadUser } from '../../../../../identity/users/queries.ts';
import { basicUser } from '../../../../../identity/users/json.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { avatar } from '../../../parts/avatar.ts';
import { form } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { userBadges } from './badges.ts';
import { usersPath } from './list.ts';

const userTabs = {
  '': 'Overview',
  edit: 'Edit',
  memberships: 'Memberships',
  emails: 'E-mail addresses',
  identities: 'Linked accounts',
  sessions: 'Sessions',
  keys: 'SSH keys',
  gpg_keys: 'GPG keys',
  tokens: 'Access tokens',
} as const;

type UserTab = keyof typeof userTabs;

/** Renders the head of the pages of a user: who it is, and tabs. */
export const userHead = (visit: Visit, user: UserRow, here: UserTab): Html => {
  const { name, avatar_url } = basicUser(user, visit.call);
  const own = `${usersPath}/${user.id}`;
  const links = (Object.entries(userTabs) as [UserTab, string][])
    .filter(([tab]) => tab === '' || user.ghost === 0)
    .map(([tab, title]) => ({
      path: tab === '' ? own : `${own}/${tab}`,
      name: title,
      isHere: tab === here,
    }));
  return html`<div class="row">${avatar({ name, avatar_url, size: 'large' })}
<div><p><a href="/${user.username}">@${user.username}</a> <span class="muted">${user.email}</span></p>
<p class="row tight">${userBadges(user)}</p></div></div>
${tabs('User', links)}`;
};

/** Renders a page of a user below the head with its tabs. */
export const userView = (
  visit: Visit,
  { user, tab, title }: { user: UserRow; tab: UserTab; title: string },
  content: Html,
): View =>
  adminView(
    { path: usersPath, title },
    html`${userHead(visit, user, tab)}
${content}`,
  );

const facts = async ({ call: { db } }: Visit, user: UserRow): Promise<Html> => {
  const [namespaces, identities] = await Promise.all([
    personalNamespaces(db, [user.id]),
    identitiesByUser(db, [user.id]),
  ]);
  const linked = identities.get(user.id) ?? [];
  return html`<dl class="figures">
<div><dt>ID</dt><dd>${user.id}</dd></div>
<div><dt>Created</dt><dd>${moment(user.created_at)}</dd></div>
<div><dt>Last sign-in</dt><dd>${momentOr(user.last_sign_in_at, 'Never')}</dd></div>
<div><dt>Last active</dt><dd>${user.last_activity_on ?? 'Never'}</dd></div>
<div><dt>Personal projects</dt><dd>${namespaces.get(user.id)?.projects ?? 0} <span class="quiet">of at most ${user.projects_limit}</span></dd></div>
<div><dt>Can create groups</dt><dd>${user.can_create_group === 1 ? 'Yes' : 'No'}</dd></div>
<div><dt>Two-factor sign-in</dt><dd>${user.two_factor_enabled === 1 ? 'On' : 'Off'}</dd></div>
<div><dt>Linked accounts</dt><dd>${linked.length === 0 ? 'None' : linked.map(({ provider, extern_uid }) => `${provider}: ${extern_uid}`).join(', ')}</dd></div>
</dl>
${(user.note ?? '') !== '' && html`<div class="card"><header><h2>Note</h2></header><p class="body lines">${user.note}</p></div>`}`;
};

type Action = { image: IconName; title: string; text: string; control: Html };

const actionRow = ({ image, title, text, control }: Action): Html =>
  html`<li><span class="lead muted">${icon(image)}</span><span class="title">${title}</span><span class="meta">${text}</span><span class="side">${control}</span></li>
`;

const stateAction = (visit: Visit, user: UserRow): Action => {
  const own = `${usersPath}/${user.id}`;
  if (user.state === 'blocked') {
    return {
      image: 'check-circle',
      title: 'Unblock',
      text: 'The user can sign in again. Revoked authorizations of applications stay revoked.',
      control: form(visit, { action: `${own}/unblock`, submit: 'Unblock', isQuiet: true }),
    };
  }
  return {
    image: 'lock',
    title: 'Block',
    text: 'Ends all sessions and disables tokens and keys. Projects and contributions are kept.',
    control: form(visit, { action: `${own}/block`, submit: 'Block', danger: true }),
  };
};

const actionsPart = async (visit: Visit, user: UserRow): Promise<Html | null> => {
  if (user.ghost === 1) return null;
  const hasPasskeys = (await listPasskeys(visit.call.db, user.id)).length > 0;
  const own = `${usersPath}/${user.id}`;
  const isSelf = user.id === requireUser(visit.call).id;
  const actions: (Action | false)[] = [
    findImpersonationProblem(user) === null && {
      image: 'user',
      title: 'Impersonate',
      text: 'Act as this user for up to one hour. The audit log records it under your name.',
      control: form(visit, { action: `${own}/impersonate`, submit: 'Impersonate', isQuiet: true }),
    },
    {
      image: 'key',
      title: 'Reset password',
      text: 'Sets a random password, shown to you once, and ends all sessions of the user.',
      control: form(visit, { action: `${own}/reset_password`, submit: 'Reset password', isQuiet: true }),
    },
    (user.two_factor_enabled === 1 || hasPasskeys) && {
      image: 'shield',
      title: 'Turn off two-factor sign-in and passkeys',
      text: 'For a user who lost the authenticator and the recovery codes, or the device with the passkeys.',
      control: form(visit, { action: `${own}/disable_two_factor`, submit: 'Turn off', danger: true }),
    },
    !isSelf && stateAction(visit, user),
    !isSelf && {
      image: 'trash',
      title: 'Delete',
      text: 'Removes the account and its personal projects. You choose what happens to contributions.',
      control: html`<a class="button small danger" href="${own}/delete">Delete…</a>`,
    },
  ];
  return html`<div class="card"><header><h2>Actions</h2></header><ul class="list">${actions
    .filter((action) => action !== false)
    .map(actionRow)}</ul></div>`;
};

export const onePages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      const user = await loadUser(visit.call.db, params.id);
      const content = html`${await facts(visit, user)}
${await actionsPart(visit, user)}
<p><a href="/admin/audit_events?target_type=User&amp;target_id=${user.id}">Audit log of this user</a></p>`;
      return userView(visit, { user, tab: '', title: user.name }, content);
    },
  }),
];
