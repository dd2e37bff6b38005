/** The settings of the process, without secrets: what `gantry config show --origin` prints of this service. */
import {
  type EffectiveSetting,
  listEffectiveSettings,
} from '../../../../../platform/config/effective_settings.ts';
import type { Origin } from '../../../../../platform/config/read_config.ts';
import { type SettingGroup, settingGroups } from '../../../../../platform/config/setting_groups.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { type Html, html } from '../../../parts/html.ts';

const path = '/admin/configuration';

const originNames: Record<Origin, string> = {
  flag: 'Flag',
  environment: 'Environment',
  file: 'File',
  default: 'Default',
};

const row = ({ value, origin, variable, meaning }: EffectiveSetting): Html => html`<tr>
<th scope="row"><code>${variable}</code></th>
<td>${value === null || value === '' ? html`<span class="quiet">Not set</span>` : html`<code>${value}</code>`}</td>
<td>${originNames[origin]}</td>
<td>${meaning}</td>
</tr>
`;

const part = (
  { title, names }: SettingGroup,
  settings: readonly EffectiveSetting[],
): Html => html`<h2>${title}</h2>
<div class="wide" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr><th scope="col">Variable</th><th scope="col">Value</th><th scope="col">Source</th><th scope="col">Meaning</th></tr></thead>
<tbody>${settings.filter(({ name }) => names.includes(name)).map(row)}</tbody>
</table></div>
`;

export const configurationPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({}),
    handle: async ({ call: { platform } }) => {
      const { config, configOrigin: origin } = platform;
      const settings = listEffectiveSettings({ config, origin });
      const content = html`<p>Settings of the process that answers, as it read them at its start. They are changed on its machine, by variables and flags: <a href="/help/configuration">Settings of the process</a>. Secrets are hidden.</p>
${settingGroups.map((group) => part(group, settings))}`;
      return await Promise.resolve(adminView({ path, title: 'Configuration' }, content));
    },
  }),
];
