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
import { formPage } from '../../parts/fields/form_page.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { confirmPart, confirmedParam } from '../ci/confirm_manual_job.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { environmentFields, fromSent, toEdit, toProblems } from './form.ts';
import { environmentsPath, listView, environmentsRoutePath } from './list.ts';
import { oneView } from './environment_page.ts';

const administered = async ({ call }: Visit, { project }: { project: string }): Promise<Project> =>
  await findProjectFor(call, project, 'admin_environment');

const create = formPage({
  path: environmentsRoutePath,
  audience: 'user',
  address: projectPath,
  fields: { ...environmentFields, name: optional(text({ maxLength: 1_000 })) },
  find: administered,
  fromSent,
  toProblems,
  run: async ({ call }, project, params) => {
    const name = (params.name ?? '').trim();
    await createEnvironment(call, project, { name, ...toEdit(params) });
    return redirect(environmentsPath(project), `The environment ${name} was created.`);
  },
  view: async (visit, project, state) => await listView(visit, project, {}, state),
});

const environmentParams = { ...projectPath, id: id() };

const update = formPage({
  path: `${environmentsRoutePath}/:id`,
  audience: 'user',
  address: environmentParams,
  fields: environmentFields,
  find: async (visit, address) => {
    const project = await administered(visit, address);
    return { project, row: await findEnvironment(visit.call.db, project.id, address.id) };
  },
  fromSent,
  toProblems,
  run: async ({ call }, { project, row }, params) => {
    await updateEnvironment(call, project, row.id, toEdit(params));
    return redirect(`${environmentsPath(project)}/${row.id}`, 'The environment was saved.');
  },
  view: async (visit, loaded, state) => await oneView(visit, loaded, {}, state),
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
  params: object({ ...environmentParams, ...confirmedParam }),
  handle: async (visit, { id: environmentId, confirmed, ...address }) => {
    const project = await administered(visit, address);
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
  params: object(environmentParams),
  handle: async (visit, params) => {
    const project = await administered(visit, params);
    await deleteEnvironment(visit.call, project, params.id);
    return redirect(environmentsPath(project), 'The environment was deleted.');
  },
});

export const formPages = [create, update, stop, remove];
