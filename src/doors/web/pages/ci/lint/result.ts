/** Renders the errors of a configuration, its jobs by stage, and the configuration with its includes. */
import type { PlannedJob } from '../../../../../ci/ci_file/plan.ts';
import type { SourcePosition } from '../../../../../ci/ci_file/syntax/source_position.ts';
import type { Problem } from '../../../../../ci/ci_file/syntax/problems.ts';
import { getConfigPath } from '../../../../../ci/pipelines/config/ci_files.ts';
import type { ProjectLint } from '../../../../../ci/pipelines/lint/lint_project.ts';
import type { Code } from '../../../../../code/repository/find_code.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';

/** Jobs that are shown; the API lists all. */
const maxJobs = 500;

/** Links a position into a file; null if the position is in no file that has a page here. */
type LinkTo = (position: SourcePosition) => string | null;

const positionPart = ({ position }: Problem, linkTo: LinkTo): Html | null => {
  if (position === null) return null;
  const path = linkTo(position);
  const where = `${position.file}, line ${position.line}, column ${position.column}`;
  return html` <span class="quiet">${path === null ? where : html`<a href="${path}">${where}</a>`}</span>`;
};

const problemsPart = (kind: 'error' | 'warning', problems: readonly Problem[], linkTo: LinkTo): Html | null =>
  problems.length === 0
    ? null
    : html`<section class="card" aria-label="${kind}s"><header><h2>${spellCount(problems.length, kind)}</h2></header>
<ul class="list plain-list">${problems.map(
        (problem) =>
          html`<li>${icon(kind === 'error' ? 'cross' : 'warning')} ${problem.text}${positionPart(problem, linkTo)}</li>
`,
      )}</ul></section>`;

const needsOf = ({ needs }: PlannedJob): string =>
  needs === null ? '' : needs.length === 0 ? 'none' : needs.map(({ job }) => job).join(', ');

const jobRow = (job: PlannedJob): Html => html`<tr>
<th scope="row">${job.name}</th>
<td>${job.when.replaceAll('_', ' ')}${job.allow_failure && html` <span class="badge">May fail</span>`}</td>
<td>${needsOf(job)}</td>
<td>${job.environment?.name}</td>
<td>${job.tags.join(', ')}</td>
</tr>
`;

const stagePart = (stage: string, jobs: readonly PlannedJob[]): Html =>
  html`<section class="card" aria-label="${stage}"><header><h2>${stage}</h2></header>
<div class="wide" tabindex="0" role="region" aria-label="Jobs of ${stage}"><table class="even">
<thead><tr><th scope="col">Job</th><th scope="col">When</th><th scope="col">Needs</th><th scope="col">Environment</th><th scope="col">Tags</th></tr></thead>
<tbody>${jobs.map(jobRow)}</tbody>
</table></div></section>
`;

const jobsPart = (jobs: readonly PlannedJob[]): Html => {
  const shown = jobs.slice(0, maxJobs).toSorted((a, b) => a.stage_position - b.stage_position);
  const stages = Map.groupBy(shown, ({ stage }) => stage);
  return html`${[...stages].map(([stage, some]) => stagePart(stage, some))}${
    jobs.length > shown.length && html`<p>The first ${shown.length} of ${jobs.length} jobs are shown.</p>`
  }`;
};

/**
 * Returns a function that links positions in files of the ref: the configuration, and files it includes with `local`.
 */
const linkIntoFiles = ({ project }: Code, { lint }: ProjectLint, ref: string | null): LinkTo => {
  const included = lint.includes.filter(({ type }) => type === 'local').map(({ location }) => location);
  const files = new Set([getConfigPath(project), ...included].map((path) => path.replace(/^\//, '')));
  return ({ file, line }) =>
    ref !== null && files.has(file.replace(/^\//, ''))
      ? `${codePath(project, 'blob', ref, file.replace(/^\//, ''))}#L${line}`
      : null;
};

/** @param ref where the file was read; null: the text of the form */
export const resultPart = (code: Code, result: ProjectLint, ref: string | null): Html => {
  const { errors, warnings, jobs, merged_yaml } = result.lint;
  const linkTo = linkIntoFiles(code, result, ref);
  const verdict =
    errors.length === 0
      ? html`<p class="flash notice" role="status">${icon('check')} The configuration is valid: ${spellCount(jobs.length, 'job')}.</p>`
      : html`<p class="flash alert" role="alert">The configuration is not valid.</p>`;
  return html`${verdict}
${problemsPart('error', errors, linkTo)}${problemsPart('warning', warnings, linkTo)}${jobsPart(jobs)}
${merged_yaml !== null && html`<details><summary>Merged configuration, with all that it includes</summary><pre class="lines" tabindex="0" role="region" aria-label="Merged configuration">${merged_yaml}</pre></details>`}`;
};
