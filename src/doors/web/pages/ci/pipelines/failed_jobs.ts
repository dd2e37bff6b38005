/** Why jobs of a pipeline failed: the reason, and the last lines of each log. */
import { readTraceTail } from '../../../../../ci/artifacts/traces/read_trace_tail.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { button, projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { statusIcon } from '../../../parts/status_badge.ts';
import type { Visit } from '../../../page.ts';
import { failureText } from '../failure_text.ts';

/** Failed jobs whose logs are shown; others are in the tables. */
const maxShown = 3;
const tail = { lines: 12, longest: 500 };

type FailedJob = { job: JobRow; lines: readonly string[] };

/** Loads the ends of the logs of the first jobs that failed and were not allowed to. Trigger jobs have no log. */
export const loadFailedJobs = async ({ call }: Visit, jobs: readonly JobRow[]): Promise<FailedJob[]> => {
  const failed = jobs.filter(
    ({ status, allow_failure, bridge }) => status === 'failed' && allow_failure === 0 && bridge === 0,
  );
  return await Promise.all(
    failed.slice(0, maxShown).map(async (job) => ({ job, lines: await readTraceTail(call, job, tail) })),
  );
};

type Context = {
  visit: Visit;
  project: Project;
  /** True if the viewer may run jobs. */
  isMine: boolean;
};

const failedPart = ({ visit, project, isMine }: Context, { job, lines }: FailedJob): Html => {
  const path = projectPagePath(project, `jobs/${job.id}`);
  const retry =
    isMine && button(visit, `${path}/retry`, { label: 'Retry', name: `Retry failed ${job.name}` });
  return html`<section class="card failed-job" aria-label="${job.name} failed"><header><h2>${statusIcon('failed')} ${job.name} failed <span class="quiet">${failureText(job)}</span></h2>
<div class="buttons end"><a class="button small" href="${path}" aria-label="Whole log of ${job.name}">Whole log</a>${retry}</div></header>
${lines.length > 0 && html`<pre class="log-tail" tabindex="0" role="region" aria-label="Last lines of ${job.name}">${lines.join('\n')}</pre>`}</section>
`;
};

export const failedJobsPart = (context: Context, failed: readonly FailedJob[]): Html[] =>
  failed.map((one) => failedPart(context, one));
