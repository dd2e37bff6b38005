import { countAll } from '../../../instance/counts.ts';
import { object } from '../../../http/schema.ts';
import { type Html, html } from '../../html.ts';
import { type Visit, page } from '../../page.ts';
import { adminView } from './admin_nav.ts';

const warnings = ({ call: { settings } }: Visit): Html | null =>
  settings.signup_enabled && settings.password_authentication_enabled
    ? html`<p class="flash alert">Sign-up is open: whoever reaches this service may make an account.
<a href="/admin/application_settings#signup_enabled">Change that</a></p>
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
<li><a href="/admin/application_settings">Settings</a><br><span class="quiet">Who may sign up and in, what new projects are like, limits.</span></li>
<li><a href="/admin/runners">Runners</a><br><span class="quiet">What runs the jobs of pipelines, and how each of them stands.</span></li>
<li><a href="/admin/background_work">Background work</a><br><span class="quiet">What waits, runs and failed; retry what failed.</span></li>
<li><a href="/admin/audit_events">Audit log</a><br><span class="quiet">Who signed in, who changed what that concerns safety.</span></li>
<li><a href="/-/docs/api">API</a><br><span class="quiet">Everything else that administrators may do.</span></li>
</ul>`;
      return adminView({ path: '/admin', title: 'Administration' }, content);
    },
  }),
];
