/** The profile of a user: personal data, and the lists that the viewer sees. */
import { requireUser } from '../../../../core/access/call.ts';
import { publicProfile } from '../../../../identity/users/json.ts';
import { loadUserStatus } from '../../../../identity/users/status/load_status.ts';
import { type UserRow, loadUser } from '../../../../identity/users/queries.ts';
import { Failure } from '../../../../platform/errors.ts';
import { replaceEmoji } from '../../../markdown/convert/emoji.ts';
import type { View, Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { moment } from '../../parts/timestamp.ts';
import { contributionCalendar } from './contribution_calendar.ts';
import { type PageQuery, type ProfileTab, profileListing, profileTabs } from './profile_lists.ts';

type Profile = ReturnType<typeof publicProfile>;

const tabNames: Record<ProfileTab, string> = {
  projects: 'Projects',
  activity: 'Activity',
  starred: 'Starred projects',
  groups: 'Groups',
};

/** Renders a link that neither sends a referrer nor lends our reputation. */
const outwardLink = (href: string, text: string): Html =>
  html`<a href="${href}" rel="nofollow noopener noreferrer me">${text}</a>`;

const websiteLink = (url: string): Html =>
  outwardLink(/^https?:\/\//i.test(url) ? url : `http://${url}`, url.replace(/^https?:\/\//i, ''));

/** Links the account at another service; other text than an account name stays text. */
const accountAt = (base: string, account: string): Html | string => {
  const name = account.replace(/^@/, '');
  return /^[\w.-]{1,100}$/.test(name) ? outwardLink(base + name, account) : account;
};

const hasText = (text: string | null): text is string => text !== null && text !== '';

const fact = (title: string, value: Html | string): Html =>
  html`<section><h2>${title}</h2><p>${value}</p></section>
`;

const facts = (user: UserRow, profile: Profile): Html => {
  const { location, organization, website_url, public_email, twitter, linkedin, skype } = profile;
  return html`${hasText(organization) && fact('Organization', organization)}${
    hasText(location) && fact('Location', location)
  }${hasText(website_url) && fact('Website', websiteLink(website_url))}${
    hasText(public_email) && fact('E-mail', html`<a href="mailto:${public_email}">${public_email}</a>`)
  }${hasText(twitter) && fact('Twitter', accountAt('https://twitter.com/', twitter))}${
    hasText(linkedin) && fact('LinkedIn', accountAt('https://www.linkedin.com/in/', linkedin))
  }${hasText(skype) && fact('Skype', skype)}${fact('Member since', moment(user.created_at))}`;
};

const buttons = ({ call }: Visit, { id }: UserRow): Html =>
  html`<div class="row end">${id === requireUser(call).id && html`<a class="button" href="/profile">${icon('pencil')} Edit profile</a>`}${
    call.admin && html`<a class="button" href="/admin/users/${id}">${icon('shield')} Administer</a>`
  }</div>`;

/** Renders what the user says of themselves at the moment; null: nothing, or its time is over. */
const statusPart = async ({ call }: Visit, { id }: UserRow): Promise<Html | null> => {
  const status = await loadUserStatus(call, id);
  if (status === undefined) return null;
  const { emoji, message, availability } = status;
  return html`<p><span title=":${emoji}:">${replaceEmoji(`:${emoji}:`)}</span> ${message}${
    availability === 'busy' && html` <span class="badge">Busy</span>`
  }</p>`;
};

const head = (visit: Visit, user: UserRow, { name, username, avatar_url }: Profile): Html =>
  html`<div class="row">${avatar({ name, avatar_url, size: 'large' })}<div><h1>${name}</h1>
<p class="muted">@${username}${user.state === 'blocked' && html` <span class="badge">Blocked</span>`}</p></div>${buttons(visit, user)}</div>`;

/** Renders the calendar; null while too many long reads run: the profile is shown without it. */
const loadCalendar = async (visit: Visit, id: number, path: string): Promise<Html | null> => {
  try {
    return await contributionCalendar(visit, id, path);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unavailable') return null;
    throw error;
  }
};

/** Renders the profile of a user. For blocked users, shows only their identity. */
export const profilePage = async (visit: Visit, id: number, query: PageQuery): Promise<View> => {
  const user = await loadUser(visit.call.db, id);
  const profile = publicProfile(user, visit.call);
  const title = `${profile.name} (@${profile.username})`;
  const path = `/${profile.username}`;
  if (user.state === 'blocked' && !visit.call.admin) {
    return { title, body: html`${head(visit, user, profile)}<p>This user is blocked.</p>` };
  }
  const { content } = await profileListing(visit, id, { path, asked: query });
  const hasCalendar = query.tab === 'projects' || query.tab === 'activity';
  const calendar = hasCalendar && (await loadCalendar(visit, id, path));
  const links = profileTabs.map((tab) => ({
    path: tab === 'projects' ? path : `${path}?tab=${tab}`,
    name: tabNames[tab],
    isHere: tab === query.tab,
  }));
  return {
    title,
    body: html`${head(visit, user, profile)}
${await statusPart(visit, user)}${hasText(profile.bio) && html`<p class="lines">${profile.bio}</p>`}
<div class="with-aside"><div class="stack">${calendar}${tabs('Profile', links)}
${content}</div>
<aside class="aside" aria-label="About ${profile.name}">${facts(user, profile)}</aside></div>`,
  };
};
