import { html } from '../../parts/html.ts';
import type { View, Visit } from '../../page.ts';
import type { SettingsList } from '../ci/owner_settings_routes.ts';

type NewToken = {
  name: string;
  text: string;
  /** The user name that goes with it, if there is one. */
  username?: string;
  /** Day or time; null if it does not expire. */
  expires_at: string | null;
};

/** Renders the text of a new token of a project or group, which is shown once. */
export const newTokenView = (
  visit: Visit,
  { path, view }: Pick<SettingsList, 'path' | 'view'>,
  { name, text, username, expires_at }: NewToken,
): View =>
  view(
    visit,
    'Token created',
    html`<p>Copy the token <strong>${name.trim()}</strong> now: it is not shown again.</p>
${username !== undefined && html`<p>User name: <code>${username}</code></p>`}
<p><code class="secret">${text}</code></p>
<p>${expires_at === null ? 'It does not expire.' : `It expires on ${expires_at}.`}</p>
<p><a class="button" href="${path}">I have copied it</a></p>`,
  );
