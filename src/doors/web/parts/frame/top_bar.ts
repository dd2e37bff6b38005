/** The bar at the top of every page: search, creation, own work, account. */
import type { ActorUser } from '../../../../core/access/credentials/authenticate.ts';
import { userAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { countOpenWork, maxCount } from './count_open_work.ts';
import type { View, Visit } from '../../page.ts';
import { avatar } from '../avatar.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { menu } from '../menu.ts';

type Item = readonly [path: string, name: string, icon: IconName];

const createItems: readonly Item[] = [
  ['/projects/new', 'New project', 'code'],
  ['/groups/new', 'New group', 'group'],
  ['/-/snippets/new', 'New snippet', 'file'],
];

/** Lists of own work, shown as icons. */
const workItems: readonly Item[] = [
  ['/dashboard/issues', 'Assigned issues', 'issue'],
  ['/dashboard/merge_requests', 'Merge requests', 'merge-request'],
  ['/dashboard/todos', 'To-do list', 'todo'],
];

const accountItems: readonly Item[] = [
  ['/profile', 'Account settings', 'settings'],
  ['/dashboard/activity', 'Activity', 'history'],
  ['/dashboard/groups', 'Your groups', 'group'],
  ['/dashboard/projects', 'Your projects', 'folder'],
  ['/dashboard/starred', 'Starred projects', 'star'],
  ['/-/snippets', 'Your snippets', 'file'],
  ['/explore', 'Explore', 'globe'],
  ['/help', 'Help', 'book'],
];

/** Links lead only to pages that exist. */
const existing = ({ call }: Visit, items: readonly Item[]): readonly Item[] =>
  items.filter(([path]) => call.platform.hasPage(`GET ${path}`));

const menuItem = ([path, name, image]: Item): Html => html`<a href="${path}">${icon(image)} ${name}</a>
`;

const signOut = (visit: Visit): Html =>
  html`<form method="post" action="/users/sign_out">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}<button>${icon('sign-out')} Sign out</button></form>`;

/** Renders what can be created in the place of the page; null if nothing can. */
const createHere = async (creatable: View['creatable']): Promise<Html | null> => {
  const links = (await creatable?.list()) ?? [];
  if (creatable === undefined || links.length === 0) return null;
  return html`<div role="group" aria-label="In ${creatable.place}"><p><strong>${creatable.place}</strong></p>
${links.map(({ path, name, icon: image }) => menuItem([path, name, image]))}</div><hr>
`;
};

const createMenu = async (visit: Visit, creatable: View['creatable']): Promise<Html | null> => {
  const items = existing(visit, createItems);
  if (items.length === 0) return null;
  const summary = html`${icon('plus')}${icon('chevron-down')}`;
  const content = html`${await createHere(creatable)}${items.map(menuItem)}`;
  return html`<li>${menu({ summary, label: 'Create' }, content)}</li>`;
};

/** Returns how much work is in each list, by its path. */
const countWork = async (visit: Visit): Promise<Readonly<Record<string, number>>> => {
  const { issues, merge_requests, pending_todos } = await countOpenWork(visit.call);
  return {
    '/dashboard/issues': issues,
    '/dashboard/merge_requests': merge_requests,
    '/dashboard/todos': pending_todos,
  };
};

/** Keys of the lists of own work, as in GitLab. */
const workKeys: Readonly<Record<string, string>> = {
  '/dashboard/issues': 'I',
  '/dashboard/merge_requests': 'M',
  '/dashboard/todos': 'T',
};

const workLink = ([path, name, image]: Item, count: number): Html => {
  const shown = count >= maxCount ? `${maxCount - 1}+` : String(count);
  return html`<li><a href="${path}" aria-label="${name}: ${shown}" title="${name}" data-key="${workKeys[path]}" data-key-name="${name}">${icon(image)}${
    count > 0 && html` <span class="count">${shown}</span>`
  }</a></li>
`;
};

const workLinks = async (visit: Visit): Promise<Html[]> => {
  const items = existing(visit, workItems);
  if (items.length === 0) return [];
  const counts = await countWork(visit);
  return items.map((item) => workLink(item, counts[item[0]] ?? 0));
};

const accountMenu = (visit: Visit, user: ActorUser): Html => {
  const avatar_url = userAvatarUrl(visit.call, user);
  const items = html`<p><strong>${user.name}</strong><br><span class="muted">@${user.username}</span></p><hr>
${menuItem([`/${user.username}`, 'Profile', 'user'])}${existing(visit, accountItems).map(menuItem)}${
    visit.call.admin && menuItem(['/admin', 'Administration', 'gauge'])
  }<hr>
${signOut(visit)}`;
  return html`<li>${menu({ summary: avatar({ name: user.name, avatar_url }), label: `Account of ${user.name}` }, items)}</li>`;
};

const linksFor = async (visit: Visit, creatable: View['creatable']): Promise<Html> => {
  const { actor } = visit.call;
  if (actor !== null) {
    return html`${await createMenu(visit, creatable)}${await workLinks(visit)}${accountMenu(visit, actor.user)}`;
  }
  const explore = existing(visit, [['/explore', 'Explore', 'globe']]).length > 0;
  return html`${explore && html`<li><a href="/explore">Explore</a></li>`}<li><a href="/users/sign_in">Sign in</a></li>`;
};

/** With an entity: one character beyond Latin-1 doubles the time to encode a long page. */
const searchButton = ({ call }: Visit): Html | null =>
  call.platform.hasPage('GET /search')
    ? html`<a class="search-button" href="/search" data-palette aria-label="Search or jump to">${icon('search')}<span>Search or jump to&hellip;</span><kbd aria-hidden="true">/</kbd></a>
`
    : null;

/** Renders the bar. @param creatable what can be created in the place of the page */
export const topBar = async (
  visit: Visit,
  creatable?: View['creatable'],
): Promise<Html> => html`<header class="topbar"><a class="brand" href="/" aria-label="Gantry">${icon('gantry')} <span>Gantry</span></a>
${searchButton(visit)}<nav aria-label="Main"><ul>${await linksFor(visit, creatable)}</ul></nav></header>
`;
