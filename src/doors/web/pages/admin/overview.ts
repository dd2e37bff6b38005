import { countAll } from '../../../instance/count_records.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Html, html } from '../../parts/html.ts';
import { type Visit, page } from '../../page.ts';
import { adminLinks, adminView } from '../../parts/frame/admin_layout.ts';
import { versionLink } from './version_link.ts';

const warnings = ({ call: { settings } }: Visit): Html | null =>
  settings.signup_enabled && settings.password_authentication_enabled
    ? html`<p class="flash alert">Sign-up is open: anyone who can reach this service can create an account.
<a href="/admin/application_settings#signup_enabled">Change this setting</a></p>
`
    : null;

type Area = readonly [path: string, name: string, meaning: string];

const areas: readonly Area[] = [
  ...adminLinks.filter(([path]) => path !== '/admin'),
  ['/-/docs/api', 'API', 'Every endpoint, for programs.'],
];

const areaPart = ([path, name, meaning]: Area): Html =>
  html`<div><dt><a href="${path}">${name}</a></dt><dd>${meaning}</dd></div>
`;

const inAll = new Intl.NumberFormat('en-US');

export const startPages = [
  page({
    method: 'GET',
    path: '/admin',
    audience: 'admin',
    params: object({}),
    handle: async (visit) => {
      const { platform, db } = visit.call;
      const { users, blocked, groups, projects } = await countAll(db);
      const content = html`${warnings(visit)}<dl class="figures">
<div><dt>Version</dt><dd>${versionLink(platform)}</dd></div>
<div><dt>Users</dt><dd>${inAll.format(users)}${blocked > 0 && html` <span class="quiet">(${inAll.format(blocked)} blocked)</span>`}</dd></div>
<div><dt>Groups</dt><dd>${inAll.format(groups)}</dd></div>
<div><dt>Projects</dt><dd>${inAll.format(projects)}</dd></div>
</dl>
<dl class="topics">${areas.map(areaPart)}</dl>`;
      return adminView({ path: '/admin', title: 'Administration' }, content);
    },
  }),
];
