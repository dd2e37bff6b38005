/** Why jobs of a pipeline failed: the reason, and the last lines of each log. */
import { readTraceTail } from '../../../../../ci/artifacts/traces/read_trace_tail.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { statusIcon } from '../../../parts/status_badge.ts';
import type { Visit } from '../../../page.ts';
import { failureText } from '../failure_text.ts';

/** Failed jobs whose logs are shown; others are in the tables. */
const maxShown = 3;
const tail = { lines: 12, longest: 500 };

const failedPart = async ({ call }: Visit, project: Project, job: JobRow): Promise<Html> => {
  const lines = await readTraceTail(call, job, tail);
  return html`<section class="card failed-job" aria-label="${job.name} failed"><header><h2>${statusIcon('failed')} ${job.name} failed <span class="quiet">${failureText(job)}</span></h2>
<a class="button small" href="${projectPagePath(project, `jobs/${job.id}`)}" aria-label="Whole log of ${job.name}">Whole log</a></header>
${lines.length > 0 && html`<pre class="log-tail" tabindex="0" role="region" aria-label="Last lines of ${job.name}">${lines.join('\n')}</pre>`}</section>
`;
};

/** Renders the first jobs that failed and were not allowed to. Trigger jobs have no log. */
export const failedJobsPart = async (
  visit: Visit,
  project: Project,
  jobs: readonly JobRow[],
): Promise<Html[]> => {
  const failed = jobs.filter(
    ({ status, allow_failure, bridge }) => status === 'failed' && allow_failure === 0 && bridge === 0,
  );
  return await Promise.all(
    failed.slice(0, maxShown).map(async (job) => await failedPart(visit, project, job)),
  );
};
