/** Deploy keys of all projects and of the instance, for administrators. */
import type { KeyRow } from '../../../../../identity/keys/queries.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import type { KeyProject } from '../../../../../projects/deploy_keys/json.ts';
import { listAll, projectsOfKeys } from '../../../../../projects/deploy_keys/queries.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment, relative } from '../../../parts/timestamp.ts';
import { page } from '../../../page.ts';
import { lastUse } from '../../tokens/token_form.ts';
import { adminListView } from '../admin_list.ts';

const path = '/admin/deploy_keys';

const projectLink = ({ full_path, can_push }: KeyProject): Html =>
  html`<span><a href="/${full_path}/-/deploy_keys">${full_path}</a> (${can_push === 1 ? 'read and write' : 'read only'})</span>`;

const keyLine = (key: KeyRow, projects: readonly KeyProject[], now: number): Html => {
  const { title, fingerprint_sha256, created_at, expires_at } = key;
  const isOver = expires_at !== null && expires_at <= now;
  return html`<li>
<span class="lead">${icon('key')}</span>
<span class="title">${title}${isOver && html` <span class="badge">Expired</span>`}${
    key.shared === 1 && html` <span class="badge">Instance</span>`
  }</span>
<span class="meta"><code>SHA256:${fingerprint_sha256}</code><span>added ${relative(created_at)}</span><span>last used: ${lastUse(key)}</span>${
    expires_at !== null && html`<span>expires ${moment(expires_at)}</span>`
  }${projects.map(projectLink)}</span></li>
`;
};

export const deployKeyPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object(pageParams),
    handle: async (visit, query) => {
      const { db, now } = visit.call;
      const at = pageRequest(query);
      const { items, total } = await listAll(db, at);
      const projects = await projectsOfKeys(
        db,
        items.map((key) => key.id),
      );
      return adminListView({
        path,
        title: 'Deploy keys',
        head: html`<p>SSH keys that give access to projects instead of accounts. Keys of projects are added and removed on the page of each project, keys of the instance by the API.</p>`,
        noun: 'deploy key',
        rows: items.map((key) => keyLine(key, projects.get(key.id) ?? [], now)),
        empty: { icon: 'key', title: 'No deploy keys', text: 'Projects add them in their settings.' },
        paging: { query: {}, page: at, total },
      });
    },
  }),
];
