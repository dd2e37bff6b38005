/** Lists exposed artifacts of a pipeline, and redirects to them. */
import { type Exposed, resolveExposed } from '../../../../ci/artifacts/archives/exposed_artifacts.ts';
import { findArchiveOfJob } from '../../../../ci/artifacts/archives/find_archive.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type Html, html } from '../../parts/html.ts';
import { page, redirect } from '../../page.ts';
import { findJob } from '../../../../ci/jobs/find.ts';
import { artifactsApiPath, encoded } from './job_artifacts.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

export const exposedArtifactsPart = (project: Project, exposed: readonly Exposed[]): Html | null =>
  exposed.length === 0
    ? null
    : html`<h2>Exposed artifacts</h2>
<ul class="list">${exposed.map(
        ({ job_id, job_name, text }) =>
          html`<li><a href="${projectPagePath(project, `jobs/${job_id}/artifacts/exposed`)}">${text}</a> <span class="quiet">of ${job_name}</span></li>
`,
      )}</ul>
`;

export const exposedPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/jobs/:id/artifacts/exposed`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async ({ call }, params) => {
      const { code, job } = await findJob(call, params.project, params.id);
      const { project } = code;
      const target = await resolveExposed(call, await findArchiveOfJob(call, project.id, job.id));
      const subpath = target.path === '' ? '' : `/${encoded(target.path)}`;
      return redirect(
        target.kind === 'file'
          ? `${artifactsApiPath(project.id, job.id)}${subpath}`
          : `${projectPagePath(project, `jobs/${job.id}/artifacts/browse`)}${subpath}`,
      );
    },
  }),
];
