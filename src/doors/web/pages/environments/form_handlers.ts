/** Handlers for forms of environments, which call the operations of the API. */
import {
  createEnvironment,
  deleteEnvironment,
  updateEnvironment,
} from '../../../../ci/environments/create_update_delete.ts';
import { findEnvironment } from '../../../../ci/environments/queries.ts';
import { stopEnvironment, findStopJob } from '../../../../ci/environments/stop_environment.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { loadConfirmation } from '../../../../ci/jobs/manual_confirmation.ts';
import { jobFunctions } from '../../../../ci/jobs/environment_jobs.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { attempt } from '../../parts/form.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { confirmPart, confirmedParam } from '../ci/confirm_manual_job.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { editOf, environmentProblems, filledParams } from './form.ts';
import { environmentsPath, listView, environmentsRoutePath } from './list.ts';
import { oneView } from './environment_page.ts';

const administered = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_environment');

const create = page({
  method: 'POST',
  path: environmentsRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...filledParams, name: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { project: fullPath, name = '', ...given }) => {
    const project = await administered(visit, fullPath);
    const made = { name: name.trim(), ...editOf(given) };
    const problems = await attempt(async () => await createEnvironment(visit.call, project, made));
    if (problems === null)
      return redirect(environmentsPath(project), `The environment ${made.name} was added.`);
    return await listView(
      visit,
      project,
      {},
      { given: { name, ...given }, problems: environmentProblems(problems) },
    );
  },
});

const one = { ...projectPath, id: id() };

const update = page({
  method: 'POST',
  path: `${environmentsRoutePath}/:id`,
  audience: 'user',
  params: object({ ...one, ...filledParams }),
  handle: async (visit, { project: fullPath, id: environmentId, ...given }) => {
    const { call } = visit;
    const project = await administered(visit, fullPath);
    const row = await findEnvironment(call.db, project.id, environmentId);
    const problems = await attempt(
      async () => await updateEnvironment(call, project, environmentId, editOf(given)),
    );
    if (problems !== null) {
      return await oneView(visit, { project, row }, {}, { given, problems: environmentProblems(problems) });
    }
    return redirect(`${environmentsPath(project)}/${environmentId}`, 'The environment was saved.');
  },
});

/** Returns the message of the job that stops it, if it needs a confirmation, else null. */
const unconfirmed = async (visit: Visit, project: Project, environmentId: number): Promise<View | null> => {
  const { call } = visit;
  const { name, state } = await findEnvironment(call.db, project.id, environmentId);
  const job = state === 'stopped' ? null : await findStopJob(call.db, environmentId);
  const words = job?.status === 'manual' ? await loadConfirmation(call.db, job.id) : null;
  if (words === null) return null;
  const back = `${environmentsPath(project)}/${environmentId}`;
  const content = confirmPart(visit, { words, action: `${back}/stop`, submit: `Yes, stop ${name}`, back });
  return projectView(visit, { project, title: `Stop ${name}?`, noun: 'environments' }, content);
};

const stop = page({
  method: 'POST',
  path: `${environmentsRoutePath}/:id/stop`,
  audience: 'user',
  params: object({ ...one, ...confirmedParam }),
  handle: async (visit, { project: fullPath, id: environmentId, confirmed }) => {
    const project = await administered(visit, fullPath);
    const confirmation = confirmed === undefined ? await unconfirmed(visit, project, environmentId) : null;
    if (confirmation !== null) return confirmation;
    const { state } = await stopEnvironment(
      visit.call,
      project,
      { id: environmentId, force: false },
      jobFunctions,
    );
    const notice =
      state === 'stopped' ? 'The environment was stopped.' : 'The job that stops the environment is running.';
    return redirect(`${environmentsPath(project)}/${environmentId}`, notice);
  },
});

const remove = page({
  method: 'POST',
  path: `${environmentsRoutePath}/:id/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { project: fullPath, id: environmentId }) => {
    const project = await administered(visit, fullPath);
    await deleteEnvironment(visit.call, project, environmentId);
    return redirect(environmentsPath(project), 'The environment was deleted.');
  },
});

export const formPages = [create, update, stop, remove];
