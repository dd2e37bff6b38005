/** Background work: counts by kind, a list, and a retry of failed tasks. */
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import {
  type WorkFigures,
  type WorkRow,
  type WorkState,
  listWork,
  retryWork,
  loadWorkFigures,
  workStates,
} from '../../../../../platform/queue/inspect_work.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

const path = '/admin/background_work';

const stateNames: Record<WorkState, string> = { failed: 'Failed', running: 'Running', waiting: 'Waiting' };

const retryButton = (visit: Visit, action: string, submit: string): Html =>
  form(visit, { action, submit, isQuiet: true });

const row = (visit: Visit, work: WorkRow): Html => html`<tr>
<th scope="row">#${work.id} ${work.name}</th>
<td>${stateNames[work.state]}${work.state === 'failed' && retryButton(visit, `${path}/${work.id}/retry`, 'Retry')}</td>
<td>${work.attempts}</td>
<td>${moment(work.created_at)}</td>
<td>${work.state === 'waiting' && moment(work.run_at)}</td>
<td class="details"><code>${work.payload}</code>${work.last_error !== null && html`<br>${work.last_error.slice(0, 300)}`}</td>
</tr>
`;

const table = (
  visit: Visit,
  items: readonly WorkRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Background work"><table>
<thead><tr><th scope="col">Kind</th><th scope="col">State</th><th scope="col">Attempts</th>
<th scope="col">Created</th><th scope="col">Next attempt</th><th scope="col">Details</th></tr></thead>
<tbody>${items.map((work) => row(visit, work))}</tbody>
</table></div>`;

type Filter = { state: WorkState | undefined; kind: string | undefined };

const listPath = ({ state, kind }: Filter): string => {
  const query = new URLSearchParams({ ...(state && { state }), ...(kind !== undefined && { kind }) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
};

const figuresTable = (
  figures: readonly WorkFigures[],
  now: number,
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="By kind"><table>
<thead><tr><th scope="col">Kind</th><th scope="col">Waiting</th><th scope="col">Running</th>
<th scope="col">Failed</th><th scope="col">Oldest</th><th scope="col">Delay</th></tr></thead>
<tbody>${figures.map(
  ({ name, waiting, running, failed, oldest, due }) =>
    html`<tr><th scope="row"><a href="${listPath({ state: undefined, kind: name })}">${name}</a></th><td>${waiting}</td><td>${running}</td><td>${failed}</td><td>${momentOr(oldest, '')}</td><td>${due !== null && formatDuration(Math.max(0, now - due) / 1000)}</td></tr>
`,
)}</tbody>
</table></div>`;

/** Renders tabs of states, which keep the chosen kind. */
const stateTabs = ({ state, kind }: Filter): Html =>
  tabs('Work by state', [
    { path: listPath({ state: undefined, kind }), name: 'All', isHere: state === undefined },
    ...workStates.map((one) => ({
      path: listPath({ state: one, kind }),
      name: stateNames[one],
      isHere: one === state,
    })),
  ]);

const kindPart = ({ state, kind }: Filter): Html | null =>
  kind === undefined
    ? null
    : html`<p>Filtered by kind <strong>${kind}</strong>. <a href="${listPath({ state, kind: undefined })}">Show all kinds</a></p>
`;

const noWork = ({ state, kind }: Filter): Html => {
  const isFiltered = state !== undefined || kind !== undefined;
  return html`<section class="card">${emptyState({
    icon: 'check-circle',
    title: isFiltered ? 'No matching tasks' : 'No background work',
    text: isFiltered ? 'Choose another state or kind.' : 'Nothing is waiting, running or failed.',
  })}</section>`;
};

const retry = async ({ call }: Visit, ids: number[] | null) => {
  const count = await call.platform.store.write(async (tx) => await retryWork(tx, ids));
  return redirect(path, count === 1 ? 'Retrying 1 failed task.' : `Retrying ${count} failed tasks.`);
};

export const workPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({
      state: optional(oneOf(workStates)),
      kind: optional(text({ maxLength: 100 })),
      ...pageParams,
    }),
    handle: async (visit, { state, kind, ...params }) => {
      const { db, platform } = visit.call;
      const [now, request] = [platform.clock.now(), pageRequest(params)];
      const [{ items, total }, figures] = await Promise.all([
        listWork(db, now, { state, name: kind }, request),
        loadWorkFigures(db, now),
      ]);
      const failed = figures.reduce((sum, one) => sum + one.failed, 0);
      const content = html`<p>Tasks that the service runs in the background: processing pushes, creating pipelines, removing deleted data. Failed tasks wait for a retry.</p>
${figures.length > 0 && figuresTable(figures, now)}
${failed > 0 && retryButton(visit, `${path}/retry`, 'Retry all failed work')}
${kindPart({ state, kind })}${stateTabs({ state, kind })}
${items.length === 0 ? noWork({ state, kind }) : html`<p class="quiet">${spellCount(total, 'task')}</p>${table(visit, items)}`}
${pagesNav({ path, query: { state, kind }, page: request, total })}`;
      return adminView({ path, title: 'Background work' }, content);
    },
  }),
  page({
    method: 'POST',
    path: `${path}/retry`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => await retry(visit, null),
  }),
  page({
    method: 'POST',
    path: `${path}/:id/retry`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => await retry(visit, [params.id]),
  }),
];
