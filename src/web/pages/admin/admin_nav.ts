import { type Html, html } from '../../html.ts';
import type { View } from '../../page.ts';

/** The pages of administrators: path and name. */
const adminLinks = [
  ['/admin', 'Overview'],
  ['/admin/application_settings', 'Settings'],
  ['/admin/runners', 'Runners'],
  ['/admin/audit_events', 'Audit log'],
] as const;

type AdminPath = (typeof adminLinks)[number][0];

type Given = {
  path: AdminPath;
  title: string;
  /** Below the link of the page: what the page has. */
  contents?: Html;
};

/** A page of administrators, beside the list of them. */
export const adminView = ({ path, title, contents }: Given, content: Html): View => ({
  title,
  body: html`<div class="sides">
<nav aria-label="Administration"><ul>${adminLinks.map(
    ([to, name]) =>
      html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${name}</a>${to === path && contents}</li>
`,
  )}</ul></nav>
<div>
<h1>${title}</h1>
${content}
</div>
</div>`,
});
