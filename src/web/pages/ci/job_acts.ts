/** What the buttons of a job do: what the API does. */
import type { Call } from '../../../access/call.ts';
import { eraseJob, keepArtifacts } from '../../../artifacts/change.ts';
import { id, object, optional, raw, text } from '../../../http/schema.ts';
import { cancel, play, retry } from '../../../jobs/act.ts';
import { type FoundJob, findJobToChange, findJobToRun } from '../../../jobs/find.ts';
import { givenVariables } from '../../../jobs/given_variables.ts';
import type { JobRow } from '../../../jobs/rows.ts';
import { noProblems, problemsOf } from '../../form.ts';
import { type Redirect, page, redirect } from '../../page.ts';
import { jobView } from './job.ts';
import { playParam } from './job_play.ts';
import { placedOn } from './problems.ts';
import { pathOf, projectPath, served } from './project_view.ts';
import { filledRows } from './variable_rows.ts';

type Act = (call: Call, found: FoundJob) => Promise<JobRow>;
type Find = typeof findJobToRun;

const params = object({ ...projectPath, id: id() });

/** To the job that came of it: of a retry, the new one. One that starts another pipeline has no page of its own. */
const led = ({ code }: FoundJob, job: JobRow, notice: string): Redirect => {
  const below = job.bridge === 1 ? `pipelines/${job.pipeline_id}` : `jobs/${job.id}`;
  return redirect(pathOf(code.project, below), notice);
};

const acting = (verb: string, notice: string, act: Act, find: Find = findJobToRun) =>
  page({
    method: 'POST',
    path: `${served}/jobs/:id/${verb}`,
    audience: 'user',
    params,
    handle: async (visit, { project, id: jobId }) => {
      const found = await find(visit.call, project, jobId);
      return led(found, await act(visit.call, found), notice);
    },
  });

const start = page({
  method: 'POST',
  path: `${served}/jobs/:id/play`,
  audience: 'user',
  params: object({
    ...params.properties,
    [playParam]: optional(raw('rows of `key` and `value`')),
    more: optional(text()),
  }),
  handle: async (visit, { project, id: jobId, more, [playParam]: sent }) => {
    const found = await findJobToRun(visit.call, project, jobId);
    const rows = filledRows(sent);
    if (more !== undefined) return await jobView(visit, found, {}, { rows, problems: noProblems });
    try {
      const variables = givenVariables(rows.map(({ key, value }) => ({ key, value })));
      return led(found, await play(visit.call, found, variables), 'The job is started.');
    } catch (error) {
      const problems = problemsOf(error);
      if (problems === null || rows.length === 0) throw error;
      return await jobView(visit, found, {}, { rows, problems: placedOn(problems, []) });
    }
  },
});

const change: Find = async (call, project, jobId) => await findJobToChange(call, project, jobId);

export const jobActPages = [
  acting('cancel', 'The job is cancelled.', cancel),
  acting('retry', 'This job runs in the place of the one before.', retry),
  start,
  acting(
    'erase',
    'The log and the artifacts are erased.',
    async (call, { job }) => await eraseJob(call, job),
    change,
  ),
  acting('keep', 'The artifacts are kept.', async (call, { job }) => await keepArtifacts(call, job), change),
];
