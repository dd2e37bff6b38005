/** Searches a job's log on the server, so that the whole of a long log is searched. */
import { type TraceMatch, searchTrace } from '../../../../ci/artifacts/traces/search_trace.ts';
import type { LoadedJob } from '../../../../ci/jobs/find.ts';
import { input } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

/** @param path path of the job's page */
export const searchForm = (path: string, search: string): Html =>
  html`<form method="get" action="${path}" class="filter" role="search">
${input({ name: 'search', label: 'Search in the log', value: search })}<div class="buttons"><button>Search</button></div>
</form>
`;

const line = (path: string, { line: number, before, text, after }: TraceMatch): Html =>
  html`<div class="line"><a href="${path}?line=${number}#L${number}" aria-label="Line ${number}">${number}</a><span>${before}<mark>${text}</mark>${after}</span></div>
`;

type PageQuery = { path: string; search: string; from: number };

const said = (count: number, search: string, { from }: PageQuery): Html => {
  const lines = count === 0 ? 'No lines' : spellCount(count, 'line');
  const where = from > 0 ? ' in this part of the log' : '';
  return html`${lines} with <q>${search}</q>${where}.`;
};

export const foundPart = async ({ call }: Visit, { job }: LoadedJob, query: PageQuery): Promise<Html> => {
  const { path, from } = query;
  const search = query.search.trim();
  const result = await searchTrace(call, job, { text: search, from });
  if (result === null) return html`<p>No log.</p>`;
  const { matches, next } = result;
  const more = new URLSearchParams({ search, from: String(next) }).toString();
  return html`<p role="status">${said(matches.length, search, query)} <a href="${path}">Back to the log</a></p>
${matches.length > 0 && html`<div class="log">${matches.map((one) => line(path, one))}</div>`}
${next !== null && html`<p><a href="${path}?${more}">Search the rest of the log</a></p>`}`;
};
