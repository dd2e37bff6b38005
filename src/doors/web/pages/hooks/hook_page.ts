/** The page of one hook: its state, settings, tests and deliveries. */
import { type StatusWord, statusWords } from '../../../../outgoing/deliveries/attempt_status.ts';
import { type LogRow, listLogs } from '../../../../outgoing/deliveries/logs.ts';
import {
  countPending,
  loadLastFailure,
  maxCountedPending,
} from '../../../../outgoing/deliveries/overview.ts';
import { type EventFlag } from '../../../../outgoing/hooks/event_flags.ts';
import { isPaused } from '../../../../outgoing/hooks/json.ts';
import { unsealHook } from '../../../../outgoing/hooks/secrets.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, id, object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form, select } from '../../parts/form.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { moment, relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type AnyPage, type Visit, page } from '../../page.ts';
import type { SettingsListRoute, SettingsListParams } from '../ci/owner_settings_routes.ts';
import {
  type FoundHook,
  eventLabels,
  findHookOfOwner,
  formatLabels,
  listEvents,
  nouns,
  shownUrl,
  titleOf,
} from './placed_hook.ts';
import { describeAnswer, outcomeBadge, stateBadge } from './delivery_status.ts';

const pathOf = ({ list, hook }: FoundHook): string => `${list.path}/${hook.id}`;

/** Says why a failing hook fails, and offers to resume it. */
const failureNote = async (visit: Visit, loaded: FoundHook): Promise<Html | null> => {
  const { hook } = loaded;
  if (hook.failures === 0) return null;
  const last = await loadLastFailure(visit.call.db, hook.id);
  const times =
    hook.failures === 1 ? 'The last delivery failed' : `The last ${hook.failures} deliveries failed`;
  const reason =
    last !== undefined &&
    html`: <a href="${pathOf(loaded)}/deliveries/${last.id}">${describeAnswer(last)}</a>`;
  if (!isPaused(hook, visit.call.now))
    return html`<p class="flash warning">${times}${reason}. The next attempt follows by itself.</p>`;
  return html`<div class="flash warning stack"><p><strong>Paused until ${moment(hook.disabled_until ?? 0)}.</strong> ${times}${reason}. Later deliveries wait, in order. The first success ends the pause.</p>
${button(visit, `${pathOf(loaded)}/resume`, { label: 'Resume now' })}</div>`;
};

const keysOf = (values: object): Html | string => {
  const keys = Object.keys(values);
  return keys.length === 0 ? 'None' : html`${keys.map((key) => html`<code>${key}</code> `)}`;
};

const branchesOf = ({ hook }: FoundHook): Html | string => {
  const { push_events_branch_filter: filter, branch_filter_strategy: strategy } = hook;
  if (filter === null || strategy === 'all_branches') return 'All';
  return html`${strategy === 'regex' ? 'Regular expression' : 'Pattern'} <code>${filter}</code>`;
};

const fact = (name: string, value: Html | string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const settings = (visit: Visit, loaded: FoundHook): Html => {
  const { hook, owner } = loaded;
  const secrets = unsealHook(visit.call.platform, hook);
  const events = listEvents(owner).filter((name) => hook[name] === 1);
  return html`<section class="card" aria-labelledby="settings_title"><header><h2 id="settings_title">Settings</h2></header>
<dl class="facts body">${fact('URL', html`<code>${shownUrl(hook)}</code>`)}${
    hook.description !== null && fact('Description', hook.description)
  }${fact('Events', events.map((name) => eventLabels[name]).join(', ') || 'None')}${fact('Branches', branchesOf(loaded))}${fact(
    'Secret token',
    secrets.token === null ? 'None' : 'Stored',
  )}${fact('Format', formatLabels[hook.format])}${fact('Custom headers', keysOf(secrets.headers))}${fact('URL variables', keysOf(secrets.urlVariables))}${fact(
    'Certificate',
    hook.enable_ssl_verification === 1 ? 'Verified' : 'Not verified',
  )}</dl></section>`;
};

/** Chosen events first: they are what a test is usually about. */
const testOptions = ({ owner, hook }: FoundHook): (readonly [EventFlag, string])[] =>
  listEvents(owner)
    .toSorted((a, b) => hook[b] - hook[a])
    .map((name) => [name, eventLabels[name] ?? name]);

const testCard = (
  visit: Visit,
  loaded: FoundHook,
): Html => html`<section class="card" aria-labelledby="test_title"><header><h2 id="test_title">Send a test</h2></header>
<div class="body"><p class="hint">Sends the payload of the latest record of a kind.</p>${form(
  visit,
  { action: `${pathOf(loaded)}/test`, submit: 'Send test', isQuiet: true },
  select({ name: 'trigger', label: 'Event', value: null, options: testOptions(loaded) }),
)}</div></section>`;

const line = (path: string, log: LogRow): Html => html`<tr>
<th scope="row"><a href="${path}/deliveries/${log.id}">#${log.id}</a></th>
<td>${outcomeBadge(log)}</td>
<td>${log.event_name}</td>
<td>${log.execution_duration} ms</td>
<td>${relative(log.created_at)}</td>
</tr>
`;

const waiting = (count: number): string | null => {
  if (count === 0) return null;
  if (count === 1) return '1 delivery waits.';
  return `${count > maxCountedPending ? `More than ${maxCountedPending}` : count} deliveries wait.`;
};

const statusLabels: Record<StatusWord, string> = {
  successful: 'Successful',
  client_failure: 'Client errors (4xx)',
  server_failure: 'Server errors (5xx)',
  no_response: 'No response',
};

const filterForm = (path: string, status: StatusWord | undefined): Html => {
  const options = [['', 'All'] as const, ...statusWords.map((word) => [word, statusLabels[word]] as const)];
  return html`<form method="get" action="${path}" class="filter">
${select({ name: 'status', label: 'Answer', value: status ?? '', options })}<div class="buttons"><button>Filter</button></div>
</form>
`;
};

const noDeliveries = (isFiltered: boolean): Html =>
  isFiltered
    ? emptyState({
        icon: 'link',
        title: 'No deliveries found',
        text: 'No delivery in the log has this answer.',
      })
    : emptyState({ icon: 'link', title: 'No deliveries yet', text: 'Send a test, or wait for an event.' });

type Shown = { request: PageRequest; status: StatusWord | undefined };

const deliveries = async (visit: Visit, loaded: FoundHook, { request, status }: Shown): Promise<Html> => {
  const { db } = visit.call;
  const path = pathOf(loaded);
  const [{ items, total }, pending] = await Promise.all([
    listLogs(db, { hook_id: loaded.hook.id, statuses: [status ?? []].flat() }, request),
    countPending(db, loaded.hook.id),
  ]);
  const table = html`<div class="wide" tabindex="0" role="region" aria-label="Deliveries"><table>
<thead><tr><th scope="col">Delivery</th><th scope="col">Answer</th><th scope="col">Event</th><th scope="col">Duration</th><th scope="col">Sent</th></tr></thead>
<tbody>${items.map((log) => line(path, log))}</tbody>
</table></div>`;
  return html`<section class="card" aria-labelledby="deliveries_title"><header><h2 id="deliveries_title">Deliveries</h2><span class="end quiet">${waiting(pending)}</span></header>
${(total > 0 || status !== undefined) && filterForm(path, status)}${items.length === 0 ? noDeliveries(status !== undefined) : table}</section>
${pagesNav({ path, query: { status }, page: request, total })}`;
};

type ShowParams = SettingsListParams & {
  id: number;
  status?: StatusWord | null;
  page: number;
  per_page: number;
};

export const showPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id`,
    audience: kind.audience,
    params: object({
      ...kind.params,
      id: id(),
      status: optional(clearable(oneOf(statusWords))),
      ...pageParams,
    }),
    handle: async (visit, params) => {
      const named = params as ShowParams;
      const loaded = await findHookOfOwner(kind, visit, named);
      const { list, hook } = loaded;
      const { title } = nouns[list.owner.scope];
      const removal = button(visit, `${pathOf(loaded)}/delete`, {
        label: 'Delete',
        name: `Delete ${titleOf(hook)}`,
        danger: true,
      });
      const content = html`<div class="row between"><p><a href="${list.path}">All ${title.toLowerCase()}</a></p>
<div class="row">${stateBadge(hook, visit.call.now)}<a class="button small" href="${pathOf(loaded)}/edit">${icon('pencil')} Edit</a>${removal}</div></div>
${await failureNote(visit, loaded)}
${await deliveries(visit, loaded, { request: pageRequest(named), status: named.status ?? undefined })}
${testCard(visit, loaded)}
${settings(visit, loaded)}`;
      return list.view(visit, titleOf(hook), content);
    },
  });
