/** What the buttons of a job do: what the API does. */
import type { Call } from '../../../access/call.ts';
import { eraseJob, keepArtifacts } from '../../../artifacts/change.ts';
import { id, object } from '../../../http/schema.ts';
import { cancel, play, retry } from '../../../jobs/act.ts';
import { type FoundJob, findJobToChange } from '../../../jobs/find.ts';
import type { JobRow } from '../../../jobs/rows.ts';
import { page, redirect } from '../../page.ts';
import { pathOf, projectPath, served } from './project_view.ts';

type Act = (call: Call, found: FoundJob) => Promise<JobRow>;

/** Leads to the job that came of it: of a retry, the new one. */
const acting = (verb: string, notice: string, act: Act) =>
  page({
    method: 'POST',
    path: `${served}/jobs/:id/${verb}`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async (visit, params) => {
      const found = await findJobToChange(visit.call, params.project, params.id);
      const job = await act(visit.call, found);
      return redirect(pathOf(found.code.project, `jobs/${job.id}`), notice);
    },
  });

export const jobActPages = [
  acting('cancel', 'The job is cancelled.', cancel),
  acting('retry', 'This job runs in the place of the one before.', retry),
  acting('play', 'The job is started.', async (call, found) => await play(call, found, [])),
  acting(
    'erase',
    'The log and the artifacts are erased.',
    async (call, { job }) => await eraseJob(call, job),
  ),
  acting('keep', 'The artifacts are kept.', async (call, { job }) => await keepArtifacts(call, job)),
];
