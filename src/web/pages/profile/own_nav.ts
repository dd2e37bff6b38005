import { type Html, html } from '../../html.ts';
import type { View } from '../../page.ts';

/** The pages of the own account: path and name. */
const links = [
  ['/profile', 'Profile'],
  ['/profile/password', 'Password'],
  ['/profile/two_factor', 'Two-factor sign-in'],
  ['/profile/sessions', 'Sessions'],
  ['/profile/personal_access_tokens', 'Access tokens'],
  ['/profile/keys', 'SSH keys'],
  ['/profile/applications', 'Applications'],
  ['/profile/identities', 'Linked accounts'],
] as const;

export type OwnPath = (typeof links)[number][0];

/** A page of the own account, beside the list of them. */
export const ownView = (path: OwnPath, title: string, content: Html): View => ({
  title,
  body: html`<div class="sides">
<nav aria-label="Your account"><ul>${links.map(
    ([to, name]) => html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
<div>
<h1>${title}</h1>
${content}
</div>
</div>`,
});
