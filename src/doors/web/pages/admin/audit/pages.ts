import type { Call } from '../../../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, id, object, optional, text } from '../../../../../platform/http/schema.ts';
import { type AuditRow, auditKinds, listAuditEvents } from '../../../../instance/audit_queries.ts';
import { type BasicUserRow, basicUsersById } from '../../../../../identity/users/json.ts';
import { select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment } from '../../../parts/timestamp.ts';
import { page } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { formatValue } from '../format_value.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';

const path = '/admin/audit_events';

type People = Map<number, BasicUserRow>;

const actorCell = ({ actor_id, sudo_by_id, ip }: AuditRow, people: People): Html => {
  const nameOf = (id: number): string => people.get(id)?.username ?? `user ${id}`;
  if (actor_id === null) return html`<span class="quiet">${ip === '' ? 'System' : 'Not signed in'}</span>`;
  return html`${nameOf(actor_id)}${sudo_by_id !== null && html` <span class="quiet">by administrator ${nameOf(sudo_by_id)}</span>`}`;
};

/** Renders a detail; an array of two values is a change from one to the other. */
const detail = ([name, value]: [string, unknown]): Html => {
  const details =
    Array.isArray(value) && value.length === 2
      ? `${formatValue(value[0])} -> ${formatValue(value[1])}`
      : formatValue(value);
  return html`<li><code>${name}</code> ${details}</li>`;
};

const row = (event: AuditRow, people: People): Html => {
  const details = Object.entries(JSON.parse(event.details) as Record<string, unknown>);
  const { target_type: type, target_id: id } = event;
  return html`<tr>
<td>${moment(event.created_at)}</td>
<th scope="row"><code>${event.kind}</code></th>
<td>${actorCell(event, people)}</td>
<td>${type !== null && html`${type}${id !== null && html` ${id}`}`}</td>
<td>${event.ip}</td>
<td>${details.length > 0 && html`<ul class="plain">${details.map(detail)}</ul>`}</td>
</tr>
`;
};

const table = (
  events: readonly AuditRow[],
  people: People,
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Events"><table>
<thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">User</th>
<th scope="col">Target</th><th scope="col">IP address</th><th scope="col">Details</th></tr></thead>
<tbody>${events.map((event) => row(event, people))}</tbody>
</table></div>`;

const filterForm = (kinds: readonly string[], kind: string | null): Html => {
  // Keep a requested kind selected even if the log has none.
  const known = kind === null || kinds.includes(kind) ? kinds : [...kinds, kind];
  const options = [['', 'All'] as const, ...known.map((one) => [one, one] as const)];
  return html`<form method="get" action="${path}" class="filter">
${select({ name: 'kind', label: 'Event', value: kind ?? '', options })}<div class="buttons"><button>Filter</button></div>
</form>
`;
};

const peopleIn = async ({ db }: Call, events: readonly AuditRow[]): Promise<People> => {
  const ids = events.flatMap(({ actor_id, sudo_by_id }) => [actor_id, sudo_by_id]);
  return await basicUsersById(
    db,
    ids.filter((id) => id !== null),
  );
};

export const auditPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({
      kind: optional(clearable(text())),
      target_type: optional(text()),
      target_id: optional(id()),
      ...pageParams,
    }),
    handle: async ({ call }, { kind: given = null, target_type, target_id, ...params }) => {
      const kind = given === '' ? null : given;
      const wanted = pageRequest(params);
      const [{ items, total }, kinds] = await Promise.all([
        listAuditEvents(call.db, { kind: kind ?? undefined, target_type, target_id }, wanted),
        auditKinds(call.db),
      ]);
      const content = html`<p>Security events, newest first. They cannot be changed or deleted.</p>
${filterForm(kinds, kind)}
${target_type !== undefined && html`<p>Filtered by ${target_type} ${target_id}. <a href="${path}">Show all</a></p>`}
<p class="quiet">${spellCount(total, 'event')}</p>
${items.length > 0 && table(items, await peopleIn(call, items))}
${pagesNav({ path, query: { kind: kind ?? undefined, target_type, target_id: target_id?.toString() }, page: wanted, total })}`;
      return adminView({ path, title: 'Audit log' }, content);
    },
  }),
];
