import { requireUser } from '../../../../core/access/call.ts';
import { object } from '../../../../platform/http/schema.ts';
import { isEnabled } from '../../../../identity/identities/providers.ts';
import { type Identity, listIdentities } from '../../../../identity/identities/queries.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { type Visit, page } from '../../page.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

export const identitiesPath = '/profile/identities';

type Line = { name: string; label: string; identity: Identity | undefined; isOn: boolean };

/** Lists all providers, and linked providers that are no longer configured. */
const linesOf = ({ call }: Visit, identities: readonly Identity[]): Line[] => {
  const { sign_in_providers: providers } = call.platform.config;
  const names = new Set(
    [...providers, ...identities.map(({ provider }) => ({ name: provider }))].map((one) => one.name),
  );
  return [...names].map((name) => {
    const provider = providers.find((one) => one.name === name);
    const identity = identities.find((one) => one.provider === name);
    const isOn = provider !== undefined && isEnabled(provider, call.settings);
    return { name, label: provider?.label ?? name, identity, isOn };
  });
};

const actionOf = (visit: Visit, { name, identity, isOn }: Line): Html => {
  if (identity !== undefined) {
    return form(visit, { action: `${identitiesPath}/${name}/unlink`, submit: 'Unlink', danger: true });
  }
  return isOn ? form(visit, { action: `/users/auth/${name}`, submit: 'Link' }) : html`Turned off`;
};

const row = (visit: Visit, line: Line): Html => html`<tr>
<th scope="row">${line.label}</th>
<td>${line.identity?.extern_uid ?? 'Not linked'}</td>
<td>${actionOf(visit, line)}</td>
</tr>
`;

export const ownPages = [
  page({
    method: 'GET',
    path: identitiesPath,
    audience: 'user',
    params: object({}),
    handle: async (visit) => {
      const lines = linesOf(visit, await listIdentities(visit.call.db, requireUser(visit.call).id));
      const content =
        lines.length === 0
          ? html`<p>This service has no external sign-in providers.</p>`
          : html`<p>You can sign in with a linked account without a password. Before you unlink one, make sure that you have
<a href="/profile/password">a password</a>.</p>
<div class="wide"><table>
<thead><tr><th scope="col">Provider</th><th scope="col">Account</th><th scope="col">Action</th></tr></thead>
<tbody>${lines.map((line) => row(visit, line))}</tbody>
</table></div>`;
      return accountView(identitiesPath, 'Linked accounts', content);
    },
  }),
];
