/**
 * Details of the head pipeline in the merge box, in addition to its status: stages, tests, coverage, artifacts,
 * deployments.
 */
import { listExposed } from '../../../../../ci/artifacts/archives/exposed_artifacts.ts';
import { type TestCounts, countTests } from '../../../../../ci/artifacts/reports/test_counts.ts';
import {
  type CommitDeployment,
  loadCommitDeployments,
} from '../../../../../ci/environments/deployments/commit_deployments.ts';
import { isHttpUrl } from '../../../../../ci/environments/rules.ts';
import { latestSuccess } from '../../../../../ci/pipelines/list.ts';
import { loadFirstStages } from '../../../../../ci/pipelines/load_stages.ts';
import { singlePipelineJson } from '../../../../../code/repository/statuses/pipeline_detail.ts';
import type { PipelineRow } from '../../../../../code/repository/statuses/pipeline_summary.ts';
import { may } from '../../../../../core/access/may.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { inlineStageDots, maxDots } from '../../../parts/pipelines/stage_dots.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { relative } from '../../../parts/timestamp.ts';
import type { Visit } from '../../../page.ts';
import type { RequestPage } from './load_overview.ts';
import type { CheckLine } from './check_line.ts';
import type { OpenPage } from './load_overview.ts';

type Shown = RequestPage & Pick<OpenPage, 'checks'>;
type Head = { source: Project; pipeline: PipelineRow };

const line = (state: CheckLine['state'], text: Html): CheckLine => ({ state, text, isBlocking: false });

const testsLine = ({ source, pipeline }: Head, counts: TestCounts | 'uncounted' | null): CheckLine[] => {
  if (counts === null) return [];
  const path = projectPagePath(source, `pipelines/${pipeline.id}/test_report`);
  if (counts === 'uncounted') return [line('off', html`<a href="${path}">Test report</a>`)];
  const { total, failed } = counts;
  const tests = spellCount(total, 'test');
  return failed === 0
    ? [line('ok', html`<a href="${path}">${tests}</a> without a failure`)]
    : [line('off', html`<a href="${path}">${failed.toLocaleString('en')} of ${tests} failed</a>`)];
};

/** Loads the coverage of a pipeline in percent; null: no job reports it. */
const loadCoverage = async (
  { call }: Visit,
  project: Project,
  pipeline: PipelineRow,
): Promise<number | null> => {
  const { coverage } = await singlePipelineJson(call, pipeline, project);
  return coverage === null ? null : Number(coverage);
};

/** Renders the coverage, with its difference to the last successful pipeline of the target branch. */
const coverageLine = async (visit: Visit, { loaded }: Shown, head: Head): Promise<CheckLine[]> => {
  const coverage = await loadCoverage(visit, head.source, head.pipeline);
  if (coverage === null) return [];
  const { db, viewer } = visit.call;
  const { project, merge_request } = loaded;
  const base = may(viewer, 'read_pipeline', project)
    ? await latestSuccess(db, project.id, merge_request.target_branch)
    : null;
  const before = base === null ? null : await loadCoverage(visit, project, base);
  const change = before === null ? null : coverage - before;
  const sign = change !== null && change > 0 ? '+' : '';
  const compared =
    change !== null &&
    html` <span class="muted">· ${change === 0 ? 'as' : `${sign}${change.toFixed(2)} compared with`} <code>${merge_request.target_branch}</code></span>`;
  return [line('off', html`Coverage ${coverage.toFixed(2)} %${compared}`)];
};

const exposedLine = ({ source }: Head, exposed: Awaited<ReturnType<typeof listExposed>>): CheckLine[] =>
  exposed.length === 0
    ? []
    : [
        line(
          'off',
          html`Artifacts: ${exposed.map(
            ({ job_id, text }, at) =>
              html`${at > 0 && ', '}<a href="${projectPagePath(source, `jobs/${job_id}/artifacts/exposed`)}">${text}</a>`,
          )}`,
        ),
      ];

const deployWords: Partial<Record<CommitDeployment['status'], readonly [CheckLine['state'], string]>> = {
  success: ['ok', 'Deployed to'],
  running: ['wait', 'Is being deployed to'],
  failed: ['off', 'Could not be deployed to'],
};

const deploymentLine = ({ source }: Head, deployment: CommitDeployment): CheckLine[] => {
  const { environment_id, name, external_url, status, created_at, finished_at } = deployment;
  const [state, words] = deployWords[status] ?? [];
  if (state === undefined) return [];
  const path = projectPagePath(source, `environments/${environment_id}`);
  const open =
    status === 'success' && external_url !== null && isHttpUrl(external_url)
      ? html`<a class="button small" href="${external_url}" rel="noopener noreferrer nofollow" aria-label="Open ${name}">Open</a>`
      : null;
  const text = html`${words} <a href="${path}">${name}</a> <span class="muted">${relative(finished_at ?? created_at)}</span>`;
  return [{ ...line(state, text), remedy: open }];
};

/** Loads the details; null if there is no head pipeline that the viewer can open. */
export const loadPipelineDetails = async (visit: Visit, shown: Shown): Promise<OpenPage['details']> => {
  const { call } = visit;
  const { source, checks } = shown;
  const { pipeline } = checks;
  if (pipeline === null || source === null || !call.signedIn) return null;
  const head = { source, pipeline };
  const seesJobs = may(call.viewer, 'read_job', source);
  const [stages, counts, coverage, exposed, deployments] = await Promise.all([
    loadFirstStages(call.db, [pipeline.id], maxDots),
    seesJobs ? countTests(call, { project: source, pipeline }) : null,
    coverageLine(visit, shown, head),
    seesJobs ? listExposed(call, source, pipeline.id) : [],
    may(call.viewer, 'read_environment', source)
      ? loadCommitDeployments(call.db, source.id, pipeline.sha)
      : [],
  ]);
  const path = projectPagePath(source, `pipelines/${pipeline.id}`);
  return {
    dots: inlineStageDots(path, stages.get(pipeline.id) ?? []),
    lines: [
      ...testsLine(head, counts),
      ...coverage,
      ...exposedLine(head, exposed),
      ...deployments.flatMap((one) => deploymentLine(head, one)),
    ],
  };
};
