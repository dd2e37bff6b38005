/** The audit log, for administrators. */
import type { Static } from 'typebox';
import type { Call } from '../../../../../core/access/call.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, date, id, object, optional, text } from '../../../../../platform/http/schema.ts';
import { dayMilliseconds } from '../../../../../platform/time.ts';
import { type AuditRow, auditKinds, listAuditEvents } from '../../../../instance/audit_queries.ts';
import { userIdByName } from '../../../../../identity/users/queries.ts';
import { input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment } from '../../../parts/timestamp.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { formatValue } from '../format_value.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { type NamedRecords, loadNamedRecords, recordLink, userLink } from './record_links.ts';

const path = '/admin/audit_events';

const actorCell = ({ actor_id, sudo_by_id, ip }: AuditRow, records: NamedRecords): Html => {
  if (actor_id === null) return html`<span class="quiet">${ip === '' ? 'System' : 'Not signed in'}</span>`;
  return html`${userLink(actor_id, records)}${sudo_by_id !== null && html` <span class="quiet">by administrator</span> ${userLink(sudo_by_id, records)}`}`;
};

/** Renders a detail; an array of two values is a change from one to the other. */
const detail = ([name, value]: [string, unknown]): Html => {
  const details =
    Array.isArray(value) && value.length === 2
      ? `${formatValue(value[0])} -> ${formatValue(value[1])}`
      : formatValue(value);
  return html`<li><code>${name}</code> ${details}</li>`;
};

const row = (event: AuditRow, records: NamedRecords): Html => {
  const details = Object.entries(JSON.parse(event.details) as Record<string, unknown>);
  return html`<tr>
<td>${moment(event.created_at)}</td>
<th scope="row"><code>${event.kind}</code></th>
<td>${actorCell(event, records)}</td>
<td class="details">${recordLink(event, records, path)}</td>
<td>${event.ip}</td>
<td>${details.length > 0 && html`<ul class="plain">${details.map(detail)}</ul>`}</td>
</tr>
`;
};

const table = (
  events: readonly AuditRow[],
  records: NamedRecords,
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Events"><table>
<thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">User</th>
<th scope="col">Target</th><th scope="col">IP address</th><th scope="col">Details</th></tr></thead>
<tbody>${events.map((event) => row(event, records))}</tbody>
</table></div>`;

const listParams = object({
  kind: optional(clearable(text())),
  user: optional(text()),
  from: optional(clearable(date())),
  to: optional(clearable(date())),
  target_type: optional(text()),
  target_id: optional(id()),
  ...pageParams,
});

type ListQuery = Static<typeof listParams>;

const filterForm = (kinds: readonly string[], { kind = '', user = '', from, to }: ListQuery): Html => {
  // Keep a requested kind selected even if the log has none.
  const offered = kind === null || kind === '' || kinds.includes(kind) ? kinds : [...kinds, kind];
  const options = [['', 'All'] as const, ...offered.map((one) => [one, one] as const)];
  return html`<form method="get" action="${path}" class="filter">
${select({ name: 'kind', label: 'Event', value: kind, options })}
${input({ name: 'user', label: 'User name', value: user, autocomplete: 'off' })}
${input({ name: 'from', label: 'From (UTC)', type: 'date', value: from ?? '' })}
${input({ name: 'to', label: 'To (UTC)', type: 'date', value: to ?? '' })}<div class="buttons"><button>Filter</button></div>
</form>
`;
};

/** No user has this id: nothing is listed for an unknown user name. */
const noUser = 0;

const toFilter = async ({ db }: Call, { kind, user = '', from, to, target_type, target_id }: ListQuery) => ({
  kind: omitEmpty(kind ?? ''),
  ...(user !== '' && { actor_id: (await userIdByName(db, user.replace(/^@/, ''))) ?? noUser }),
  ...(typeof from === 'string' && { created_after: Date.parse(from) }),
  ...(typeof to === 'string' && { created_before: Date.parse(to) + dayMilliseconds - 1 }),
  target_type,
  target_id,
});

const listView = async ({ call }: Visit, query: ListQuery): Promise<View> => {
  const at = pageRequest(query);
  const [{ items, total }, kinds] = await Promise.all([
    listAuditEvents(call.db, await toFilter(call, query), at),
    auditKinds(call.db),
  ]);
  const { kind, user, from, to, target_type, target_id } = query;
  const kept = {
    kind: omitEmpty(kind ?? ''),
    user: omitEmpty(user ?? ''),
    from: from ?? undefined,
    to: to ?? undefined,
    target_type,
    target_id: target_id?.toString(),
  };
  const content = html`<p>Security events, newest first. They cannot be changed or deleted.</p>
${filterForm(kinds, query)}
${target_type !== undefined && html`<p>Filtered by ${target_type} ${target_id}. <a href="${path}">Show all</a></p>`}
<p class="quiet">${spellCount(total, 'event')}</p>
${items.length > 0 && table(items, await loadNamedRecords(call.db, items))}
${pagesNav({ path, query: kept, page: at, total })}`;
  return adminView({ path, title: 'Audit log' }, content);
};

export const auditPages = [
  page({ method: 'GET', path, audience: 'admin', params: listParams, handle: listView }),
];
