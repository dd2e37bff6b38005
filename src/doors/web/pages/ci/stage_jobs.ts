/** The other jobs of a job's stage. */
import type { LoadedJob } from '../../../../ci/jobs/find.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { statusIcon } from '../../parts/status_badge.ts';

/** Renders links to the other jobs; null if it is the only one of its stage. Trigger jobs have no page. */
export const otherJobsPart = (
  { code: { project }, job }: LoadedJob,
  stage: readonly JobRow[],
): Html | null => {
  const others = stage.filter(({ id, retried, bridge }) => id !== job.id && retried === 0 && bridge === 0);
  if (others.length === 0) return null;
  return html`<nav class="stage-jobs" aria-labelledby="other-jobs"><h2 id="other-jobs">Other jobs of ${job.stage}</h2>
<ul>${others.map(
    ({ id, name, status, allow_failure }) =>
      html`<li><a class="job" href="${projectPagePath(project, `jobs/${id}`)}">${statusIcon(status, allow_failure === 1)} <span class="name">${name}</span></a></li>
`,
  )}</ul></nav>`;
};
