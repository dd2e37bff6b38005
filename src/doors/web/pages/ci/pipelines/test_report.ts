/** The tests of a pipeline by job, failed tests first. */
import { reportJson } from '../../../../../ci/artifacts/reports/json.ts';
import { buildTestSuites } from '../../../../../ci/artifacts/reports/test_report.ts';
import { type LoadedPipeline, findPipeline } from '../../../../../ci/pipelines/find.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { titleOf, viewTabs } from './pipeline_tabs.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';

type Report = ReturnType<typeof reportJson>;
type Suite = Report['test_suites'][number];
type Case = Suite['test_cases'][number];

/** Tests of a job, and of all jobs, that are shown. The report of the API has all. */
const maxOfJob = 200;
const maxShown = 1_000;
const longestOutput = 5_000;

const looks: Record<Case['status'], [IconName, string, string]> = {
  failed: ['cross', 'bad', 'Failed'],
  error: ['cross', 'bad', 'Error'],
  success: ['check', 'ok', 'Passed'],
  skipped: ['skip', 'off', 'Skipped'],
};

const seconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} s`;

const outputPart = (output: string, isOpen: boolean): Html => {
  const shown = output.slice(0, longestOutput);
  return html`<details${isOpen && html` open`}><summary>Output</summary><pre class="lines" tabindex="0">${shown}${shown.length < output.length && '…'}</pre></details>`;
};

const caseRow = ({ status, name, classname, file, execution_time, system_output }: Case): Html => {
  const [image, style, word] = looks[status];
  return html`<tr>
<th scope="row">${name}${classname !== '' && html`<br><span class="quiet">${classname}</span>`}${file !== null && html` <code class="quiet">${file}</code>`}${
    (system_output ?? '') !== '' && outputPart(system_output ?? '', status !== 'skipped')
  }</th>
<td><span class="status ${style}">${icon(image)} ${word}</span></td>
<td>${seconds(execution_time)}</td>
</tr>
`;
};

const spellCounts = ({ total_count, failed_count, error_count, skipped_count }: Suite | Report): string =>
  [
    spellCount(total_count, 'test'),
    `${failed_count + error_count} failed`,
    ...(skipped_count > 0 ? [`${skipped_count} skipped`] : []),
  ].join(', ');

/** @param left tests that may still be shown */
const suitePart = (suite: Suite, left: number): Html => {
  const { name, suite_error, test_cases: cases } = suite;
  const shown = cases.slice(0, Math.min(maxOfJob, left));
  return html`<section class="card" aria-label="${name}"><header><h2>${name}</h2> <span class="quiet">${spellCounts(suite)}, ${seconds(suite.total_time)}</span></header>
${suite_error !== null && html`<p class="flash alert" role="alert">${suite_error}</p>`}
${
  shown.length > 0 &&
  html`<div class="wide" tabindex="0" role="region" aria-label="Tests of ${name}"><table class="even">
<thead><tr><th scope="col">Test</th><th scope="col">Result</th><th scope="col">Duration</th></tr></thead>
<tbody>${shown.map(caseRow)}</tbody>
</table></div>`
}
${cases.length > shown.length && html`<p class="body quiet">${shown.length === 0 ? 'No tests of this job are shown, because the page shows tests of the jobs above.' : `The first ${shown.length} of ${cases.length} tests are shown, failed ones first.`}</p>`}</section>
`;
};

const suiteParts = (suites: readonly Suite[]): Html[] => {
  let left = maxShown;
  return suites.map((suite) => {
    const part = suitePart(suite, left);
    left = Math.max(left - Math.min(maxOfJob, suite.test_cases.length), 0);
    return part;
  });
};

const figures = (report: Report): Html => html`<dl class="figures">
<div><dt>Tests</dt><dd>${report.total_count}</dd></div>
<div><dt>Failed</dt><dd>${report.failed_count + report.error_count}</dd></div>
<div><dt>Skipped</dt><dd>${report.skipped_count}</dd></div>
<div><dt>Duration</dt><dd>${seconds(report.total_time)}</dd></div>
</dl>`;

const view = (visit: Visit, loaded: LoadedPipeline, report: Report): View => {
  const none = html`<div class="card">${emptyState({ icon: 'check', title: 'No test reports', text: 'Jobs report their tests by artifacts:reports:junit.' })}</div>`;
  const content = html`${viewTabs(loaded, 'tests')}<div class="stack">${
    report.test_suites.length === 0 ? none : html`${figures(report)}${suiteParts(report.test_suites)}`
  }</div>`;
  return projectView(
    visit,
    { project: loaded.project, title: `${titleOf(loaded)}, tests`, noun: 'pipelines' },
    content,
  );
};

export const testReportPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/pipelines/:id/test_report`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async (visit, params) => {
      const loaded = await findPipeline(visit.call, params.project, params.id, 'read_job');
      return view(visit, loaded, reportJson(await buildTestSuites(visit.call, loaded)));
    },
  }),
];
