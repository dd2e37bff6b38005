/** What jobs of a pipeline expose: listed, and found when somebody asks for it. */
import { type Exposed, exposedPlace } from '../../../artifacts/exposed.ts';
import { archiveOfJob } from '../../../artifacts/find.ts';
import { id, object } from '../../../http/schema.ts';
import type { Project } from '../../../projects/find.ts';
import { type Html, html } from '../../html.ts';
import { page, redirect } from '../../page.ts';
import { findJob } from '../../../jobs/find.ts';
import { apiOf, encoded } from './job_artifacts.ts';
import { pathOf, projectPath, served } from './project_view.ts';

export const exposedPart = (project: Project, exposed: readonly Exposed[]): Html | null =>
  exposed.length === 0
    ? null
    : html`<h2>Exposed artifacts</h2>
<ul class="list">${exposed.map(
        ({ job_id, job_name, text }) =>
          html`<li><a href="${pathOf(project, `jobs/${job_id}/artifacts/exposed`)}">${text}</a> <span class="quiet">of ${job_name}</span></li>
`,
      )}</ul>
`;

export const exposedPages = [
  page({
    method: 'GET',
    path: `${served}/jobs/:id/artifacts/exposed`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async ({ call }, params) => {
      const { code, job } = await findJob(call, params.project, params.id);
      const { project } = code;
      const place = await exposedPlace(call, await archiveOfJob(call, project.id, job.id));
      const below = place.path === '' ? '' : `/${encoded(place.path)}`;
      return redirect(
        place.kind === 'file'
          ? `${apiOf(project.id, job.id)}${below}`
          : `${pathOf(project, `jobs/${job.id}/artifacts/browse`)}${below}`,
      );
    },
  }),
];
