import { countAll } from '../../../instance/count_records.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Html, html } from '../../parts/html.ts';
import { type Visit, page } from '../../page.ts';
import { adminView } from './admin_nav.ts';

const warnings = ({ call: { settings } }: Visit): Html | null =>
  settings.signup_enabled && settings.password_authentication_enabled
    ? html`<p class="flash alert">Sign-up is open: anyone who can reach this service can create an account.
<a href="/admin/application_settings#signup_enabled">Change this setting</a></p>
`
    : null;

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
<div><dt>Version</dt><dd>${platform.version} <span class="quiet">(${platform.revision})</span></dd></div>
<div><dt>Users</dt><dd>${inAll.format(users)}${blocked > 0 && html` <span class="quiet">(${inAll.format(blocked)} blocked)</span>`}</dd></div>
<div><dt>Groups</dt><dd>${inAll.format(groups)}</dd></div>
<div><dt>Projects</dt><dd>${inAll.format(projects)}</dd></div>
</dl>
<ul class="list">
<li><a href="/admin/users">Users</a><br><span class="quiet">Create, edit, block and delete accounts, reset passwords, impersonate.</span></li>
<li><a href="/admin/groups">Groups</a> and <a href="/admin/projects">projects</a><br><span class="quiet">All of them, with their sizes and settings.</span></li>
<li><a href="/admin/jobs">Jobs</a> and <a href="/admin/runners">runners</a><br><span class="quiet">What runs and waits in all projects, and what runs it.</span></li>
<li><a href="/admin/application_settings">Settings</a><br><span class="quiet">Sign-up, sign-in, defaults of new projects, limits.</span></li>
<li><a href="/admin/applications">Applications</a><br><span class="quiet">OAuth applications of the instance and of users.</span></li>
<li><a href="/admin/health">Health</a><br><span class="quiet">Database, disks, repository storages, versions.</span></li>
<li><a href="/admin/background_work">Background work</a><br><span class="quiet">Waiting, running and failed work, with a retry.</span></li>
<li><a href="/admin/audit_events">Audit log</a><br><span class="quiet">Sign-ins and changes that concern security.</span></li>
<li><a href="/-/docs/api">API</a><br><span class="quiet">Everything over HTTP, for programs.</span></li>
</ul>`;
      return adminView({ path: '/admin', title: 'Administration' }, content);
    },
  }),
];
