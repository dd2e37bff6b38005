import { countAll } from '../../../instance/count_records.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Html, html } from '../../parts/html.ts';
import { type Visit, page } from '../../page.ts';
import { adminView } from '../../parts/frame/admin_layout.ts';
import { versionLink } from './version_link.ts';

const warnings = ({ call: { settings } }: Visit): Html | null =>
  settings.signup_enabled && settings.password_authentication_enabled
    ? html`<p class="flash alert">Sign-up is open: anyone who can reach this service can create an account.
<a href="/admin/application_settings#signup_enabled">Change this setting</a></p>
`
    : null;

const areas: readonly (readonly [path: string, name: string, meaning: string])[] = [
  ['/admin/users', 'Users', 'Create, edit, block and delete accounts, reset passwords, impersonate.'],
  ['/admin/groups', 'Groups', 'All groups, with their projects and members.'],
  ['/admin/projects', 'Projects', 'All projects, their storage and settings.'],
  ['/admin/jobs', 'Jobs', 'Running and pending jobs of all projects.'],
  ['/admin/application_settings', 'Settings', 'Sign-up, sign-in, defaults of new projects, limits.'],
  ['/admin/runners', 'Runners', 'Runners that all projects may use.'],
  ['/admin/applications', 'Applications', 'OAuth applications of the instance and of users.'],
  ['/admin/background_work', 'Background work', 'Waiting, running and failed tasks.'],
  ['/admin/health', 'Health', 'Database, disks, repository storages, versions.'],
  ['/admin/audit_events', 'Audit log', 'Sign-ins and changes that concern security.'],
  ['/-/docs/api', 'API', 'Every endpoint, for programs.'],
];

const areaPart = ([path, name, meaning]: (typeof areas)[number]): Html =>
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
