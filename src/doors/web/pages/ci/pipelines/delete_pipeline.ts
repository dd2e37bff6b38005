/** Deletes a pipeline after a confirmation. */
import { type LoadedPipeline, findPipeline } from '../../../../../ci/pipelines/find.ts';
import { remove } from '../../../../../ci/pipelines/user_actions.ts';
import { may } from '../../../../../core/access/may.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { button, projectPagePath, projectPath } from '../../../parts/frame/project_layout.ts';
import type { Html } from '../../../parts/html.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { confirmed } from '../job_buttons.ts';

/** Renders the button; null if the viewer may not delete the pipeline. */
export const deletePart = (visit: Visit, { project, pipeline }: LoadedPipeline): Html | null =>
  may(visit.call.viewer, 'destroy_pipeline', project)
    ? confirmed(
        'Delete pipeline',
        'The pipeline is deleted, with the logs and the artifacts of its jobs. This cannot be undone.',
        button(visit, projectPagePath(project, `pipelines/${pipeline.id}/delete`), {
          label: 'Delete pipeline',
          danger: true,
        }),
      )
    : null;

export const deletePipelinePages = [
  page({
    method: 'POST',
    path: `${projectRoot}/pipelines/:id/delete`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async (visit, { project: fullPath, id: pipelineId }) => {
      const loaded = await findPipeline(visit.call, fullPath, pipelineId, 'destroy_pipeline');
      await remove(visit.call, loaded);
      return redirect(
        projectPagePath(loaded.project, 'pipelines'),
        `The pipeline #${pipelineId} was deleted.`,
      );
    },
  }),
];
