/** What the buttons of a job do: what the API does. */
import type { Call } from '../../../access/call.ts';
import { eraseJob, keepArtifacts } from '../../../artifacts/change.ts';
import { id, object, optional, raw, text } from '../../../http/schema.ts';
import { cancel, play, retry } from '../../../jobs/act.ts';
import { type FoundJob, findJobToChange, findJobToRun } from '../../../jobs/find.ts';
import { confirmationOf } from '../../../jobs/confirmation.ts';
import { givenVariables } from '../../../jobs/given_variables.ts';
import type { JobRow } from '../../../jobs/rows.ts';
import { noProblems, problemsOf } from '../../form.ts';
import { type Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { confirmPart, confirmedParam } from './confirm.ts';
import { jobView } from './job.ts';
import { playParam } from './job_play.ts';
import { placedOn } from './problems.ts';
import { pathOf, projectPath, projectView, served } from './project_view.ts';
import { type Row, filledRows, hiddenRows } from './variable_rows.ts';

type Act = (call: Call, found: FoundJob) => Promise<JobRow>;
type Find = typeof findJobToRun;

const params = object({ ...projectPath, id: id() });

/** Of the page that shows it: one that starts another pipeline has none of its own. */
const shownAt = ({ code }: FoundJob, job: JobRow): string =>
  pathOf(code.project, job.bridge === 1 ? `pipelines/${job.pipeline_id}` : `jobs/${job.id}`);

/** To the job that came of it: of a retry, the new one. */
const led = (found: FoundJob, job: JobRow, notice: string): Redirect => redirect(shownAt(found, job), notice);

type Starting = { verb: 'play' | 'retry'; confirmed?: string | undefined; rows: readonly Row[] };

/** What has to be read first; null: nothing, or it was. */
const unconfirmed = async (visit: Visit, found: FoundJob, starting: Starting): Promise<View | null> => {
  const { code, job } = found;
  const { verb, confirmed, rows } = starting;
  const words = confirmed === undefined ? await confirmationOf(visit.call.db, job.id) : null;
  if (words === null) return null;
  const content = confirmPart(visit, {
    words,
    action: `${pathOf(code.project, `jobs/${job.id}`)}/${verb}`,
    submit: `Yes, start ${job.name}`,
    back: shownAt(found, job),
    fields: hiddenRows(playParam, rows),
  });
  const title = `Start job #${job.id}: ${job.name}?`;
  return projectView(visit, { project: code.project, title, noun: 'jobs' }, content);
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

const again = page({
  method: 'POST',
  path: `${served}/jobs/:id/retry`,
  audience: 'user',
  params: object({ ...params.properties, ...confirmedParam }),
  handle: async (visit, { project, id: jobId, confirmed }) => {
    const found = await findJobToRun(visit.call, project, jobId);
    const asked = await unconfirmed(visit, found, { verb: 'retry', confirmed, rows: [] });
    if (asked !== null) return asked;
    return led(found, await retry(visit.call, found), 'This job runs in the place of the one before.');
  },
});

const start = page({
  method: 'POST',
  path: `${served}/jobs/:id/play`,
  audience: 'user',
  params: object({
    ...params.properties,
    [playParam]: optional(raw('rows of `key` and `value`')),
    ...confirmedParam,
    more: optional(text()),
  }),
  handle: async (visit, { project, id: jobId, confirmed, more, [playParam]: sent }) => {
    const found = await findJobToRun(visit.call, project, jobId);
    const rows = filledRows(sent);
    if (more !== undefined) return await jobView(visit, found, {}, { rows, problems: noProblems });
    try {
      const variables = givenVariables(rows.map(({ key, value }) => ({ key, value })));
      const asked = await unconfirmed(visit, found, { verb: 'play', confirmed, rows });
      return asked ?? led(found, await play(visit.call, found, variables), 'The job is started.');
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
  again,
  start,
  acting(
    'erase',
    'The log and the artifacts are erased.',
    async (call, { job }) => await eraseJob(call, job),
    change,
  ),
  acting('keep', 'The artifacts are kept.', async (call, { job }) => await keepArtifacts(call, job), change),
];
