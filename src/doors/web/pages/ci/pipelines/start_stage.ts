/** Starts all manual jobs of a stage. */
import { listManualJobs, playStage } from '../../../../../ci/jobs/stage_jobs.ts';
import type { JobRow } from '../../../../../ci/jobs/rows.ts';
import type { LoadedPipeline } from '../../../../../ci/pipelines/find.ts';
import { findPipelineToChange } from '../../../../../ci/pipelines/find_to_change.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { button, projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import type { Html } from '../../../parts/html.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { confirmPart, confirmedParam } from '../confirm_manual_job.ts';

type Context = { visit: Visit; loaded: LoadedPipeline };

const pathTo = ({ project, pipeline }: LoadedPipeline): string =>
  projectPagePath(project, `pipelines/${pipeline.id}`);

const playPath = (loaded: LoadedPipeline, stage: number): string => `${pathTo(loaded)}/stages/${stage}/play`;

/** Renders the button for a stage of several manual jobs; each has its own button, too. */
export const startStageForm = ({ visit, loaded }: Context, jobs: readonly JobRow[]): Html | null => {
  const waiting = jobs.filter(({ status }) => status === 'manual');
  const [first] = waiting;
  if (first === undefined || waiting.length < 2) return null;
  const action = playPath(loaded, first.stage_position);
  const name = `Start all manual jobs of ${first.stage}`;
  return button(visit, action, { label: 'Start all manual jobs', name });
};

/** Returns the page with the confirmations that the jobs need; null if no job needs one, or all were confirmed. */
const unconfirmed = async (
  { visit, loaded }: Context,
  stage: number,
  confirmed: string | undefined,
): Promise<View | null> => {
  if (confirmed !== undefined) return null;
  const jobs = await listManualJobs(visit.call.db, loaded.pipeline.id, stage);
  const questions = jobs.filter(({ question }) => question !== null);
  if (questions.length === 0) return null;
  const back = pathTo(loaded);
  const content = confirmPart(visit, {
    words: questions.map(({ name, question }) => `${name}: ${question}`).join('\n'),
    action: playPath(loaded, stage),
    submit: `Yes, start ${spellCount(jobs.length, 'job')}`,
    back,
  });
  const frame = { project: loaded.project, title: 'Start all manual jobs?', noun: 'pipelines' } as const;
  return projectView(visit, frame, content);
};

export const startStagePages = [
  page({
    method: 'POST',
    path: `${projectRoot}/pipelines/:id/stages/:stage/play`,
    audience: 'user',
    params: object({ ...projectPath, id: id(), stage: id('position of the stage'), ...confirmedParam }),
    handle: async (visit, { project, id: pipelineId, stage, confirmed }) => {
      const loaded = await findPipelineToChange(visit.call, project, pipelineId);
      const confirmation = await unconfirmed({ visit, loaded }, stage, confirmed);
      if (confirmation !== null) return confirmation;
      const count = await playStage(visit.call, loaded, stage);
      return redirect(pathTo(loaded), `${spellCount(count, 'job')} started.`);
    },
  }),
];
