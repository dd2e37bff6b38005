/** Handlers for the buttons of a job, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { eraseJob } from '../../../../ci/artifacts/erase_job.ts';
import { keepArtifacts } from '../../../../ci/artifacts/keep_or_delete_artifacts.ts';
import { id, object, optional, raw, text } from '../../../../platform/http/schema.ts';
import { cancel, play, retry } from '../../../../ci/jobs/user_actions.ts';
import { type LoadedJob, findJobToChange, findJobToRun } from '../../../../ci/jobs/find.ts';
import { loadConfirmation } from '../../../../ci/jobs/manual_confirmation.ts';
import { parseJobVariables } from '../../../../ci/jobs/parse_job_variables.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { noProblems, problemsOf } from '../../parts/form_problems.ts';
import { type Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { confirmPart, confirmedParam } from './confirm_manual_job.ts';
import { jobView } from './job_page.ts';
import { playParam } from './play_job_form.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type Row, filledRows, hiddenRows } from './variable_rows.ts';

type Act = (call: Call, loaded: LoadedJob) => Promise<JobRow>;
type Find = typeof findJobToRun;

const params = object({ ...projectPath, id: id() });

/** Path of the page that shows a job: a trigger job is shown by its pipeline only. */
const shownAt = ({ code }: LoadedJob, job: JobRow): string =>
  projectPagePath(code.project, job.bridge === 1 ? `pipelines/${job.pipeline_id}` : `jobs/${job.id}`);

/** Redirects to the resulting job, which for a retry is the new one. */
const led = (loaded: LoadedJob, job: JobRow, notice: string): Redirect =>
  redirect(shownAt(loaded, job), notice);

type Starting = { verb: 'play' | 'retry'; confirmed?: string | undefined; rows: readonly Row[] };

/** Returns the confirmation page; null: nothing to confirm, or confirmed. */
const unconfirmed = async (visit: Visit, loaded: LoadedJob, starting: Starting): Promise<View | null> => {
  const { code, job } = loaded;
  const { verb, confirmed, rows } = starting;
  const words = confirmed === undefined ? await loadConfirmation(visit.call.db, job.id) : null;
  if (words === null) return null;
  const content = confirmPart(visit, {
    words,
    action: `${projectPagePath(code.project, `jobs/${job.id}`)}/${verb}`,
    submit: `Yes, start ${job.name}`,
    back: shownAt(loaded, job),
    fields: hiddenRows(playParam, rows),
  });
  const title = `Start job #${job.id}: ${job.name}?`;
  return projectView(visit, { project: code.project, title, noun: 'jobs' }, content);
};

const acting = (verb: string, notice: string, act: Act, find: Find = findJobToRun) =>
  page({
    method: 'POST',
    path: `${projectRoot}/jobs/:id/${verb}`,
    audience: 'user',
    params,
    handle: async (visit, { project, id: jobId }) => {
      const loaded = await find(visit.call, project, jobId);
      return led(loaded, await act(visit.call, loaded), notice);
    },
  });

const again = page({
  method: 'POST',
  path: `${projectRoot}/jobs/:id/retry`,
  audience: 'user',
  params: object({ ...params.properties, ...confirmedParam }),
  handle: async (visit, { project, id: jobId, confirmed }) => {
    const loaded = await findJobToRun(visit.call, project, jobId);
    const confirmation = await unconfirmed(visit, loaded, { verb: 'retry', confirmed, rows: [] });
    if (confirmation !== null) return confirmation;
    return led(loaded, await retry(visit.call, loaded), 'This job replaces the previous job.');
  },
});

const start = formPage({
  path: `${projectRoot}/jobs/:id/play`,
  audience: 'user',
  address: params.properties,
  fields: {
    [playParam]: optional(raw('rows of `key` and `value`')),
    ...confirmedParam,
    more: optional(text()),
  },
  find: async ({ call }, { project, id: jobId }) => await findJobToRun(call, project, jobId),
  fromSent: (sent) => filledRows(sent[playParam]),
  // A job without variables is started by a button.
  readFailure: (error, _found, { [playParam]: sent }) =>
    filledRows(sent).length === 0 ? null : problemsOf(error),
  toProblems: (problems) => moveUnknownToText(problems, []),
  run: async (visit, loaded, { confirmed, more, [playParam]: sent }) => {
    const rows = filledRows(sent);
    if (more !== undefined) return await jobView(visit, loaded, {}, { rows, problems: noProblems });
    const variables = parseJobVariables(rows.map(({ key, value }) => ({ key, value })));
    const confirmation = await unconfirmed(visit, loaded, { verb: 'play', confirmed, rows });
    return confirmation ?? led(loaded, await play(visit.call, loaded, variables), 'The job was started.');
  },
  view: async (visit, loaded, { values: rows, problems }) =>
    await jobView(visit, loaded, {}, { rows, problems }),
});

const change: Find = async (call, project, jobId) => await findJobToChange(call, project, jobId);

export const jobActPages = [
  acting('cancel', 'The job was canceled.', cancel),
  again,
  start,
  acting(
    'erase',
    'The log and the artifacts were erased.',
    async (call, { job }) => await eraseJob(call, job),
    change,
  ),
  acting(
    'keep',
    'The artifacts no longer expire.',
    async (call, { job }) => await keepArtifacts(call, job),
    change,
  ),
];
