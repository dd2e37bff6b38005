/** What is done to environments: what the API does. */
import { createEnvironment, deleteEnvironment, updateEnvironment } from '../../../environments/change.ts';
import { findEnvironment } from '../../../environments/queries.ts';
import { stopEnvironment, stopJobOf } from '../../../environments/stop.ts';
import { id, object, optional, text } from '../../../http/schema.ts';
import { confirmationOf } from '../../../jobs/confirmation.ts';
import { jobParts } from '../../../jobs/for_environments.ts';
import { type Project, findProjectFor } from '../../../projects/find.ts';
import { attempt } from '../../form.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { confirmPart, confirmedParam } from '../ci/confirm.ts';
import { projectPath, projectView } from '../ci/project_view.ts';
import { editOf, environmentProblems, filledParams } from './form.ts';
import { environmentsPath, listView, servedEnvironments } from './list.ts';
import { oneView } from './one.ts';

const administered = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_environment');

const create = page({
  method: 'POST',
  path: servedEnvironments,
  audience: 'user',
  params: object({ ...projectPath, ...filledParams, name: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { project: of, name = '', ...given }) => {
    const project = await administered(visit, of);
    const made = { name: name.trim(), ...editOf(given) };
    const problems = await attempt(async () => await createEnvironment(visit.call, project, made));
    if (problems === null)
      return redirect(environmentsPath(project), `The environment ${made.name} is added.`);
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
  path: `${servedEnvironments}/:id`,
  audience: 'user',
  params: object({ ...one, ...filledParams }),
  handle: async (visit, { project: of, id: environmentId, ...given }) => {
    const { call } = visit;
    const project = await administered(visit, of);
    const row = await findEnvironment(call.db, project.id, environmentId);
    const problems = await attempt(
      async () => await updateEnvironment(call, project, environmentId, editOf(given)),
    );
    if (problems !== null) {
      return await oneView(visit, { project, row }, {}, { given, problems: environmentProblems(problems) });
    }
    return redirect(`${environmentsPath(project)}/${environmentId}`, 'The environment is saved.');
  },
});

/** What has to be read before the job is started that stops it; null: nothing. */
const unconfirmed = async (visit: Visit, project: Project, environmentId: number): Promise<View | null> => {
  const { call } = visit;
  const { name, state } = await findEnvironment(call.db, project.id, environmentId);
  const job = state === 'stopped' ? null : await stopJobOf(call.db, environmentId);
  const words = job?.status === 'manual' ? await confirmationOf(call.db, job.id) : null;
  if (words === null) return null;
  const back = `${environmentsPath(project)}/${environmentId}`;
  const content = confirmPart(visit, { words, action: `${back}/stop`, submit: `Yes, stop ${name}`, back });
  return projectView(visit, { project, title: `Stop ${name}?`, noun: 'environments' }, content);
};

const stop = page({
  method: 'POST',
  path: `${servedEnvironments}/:id/stop`,
  audience: 'user',
  params: object({ ...one, ...confirmedParam }),
  handle: async (visit, { project: of, id: environmentId, confirmed }) => {
    const project = await administered(visit, of);
    const asked = confirmed === undefined ? await unconfirmed(visit, project, environmentId) : null;
    if (asked !== null) return asked;
    const { state } = await stopEnvironment(
      visit.call,
      project,
      { id: environmentId, force: false },
      jobParts,
    );
    const notice = state === 'stopped' ? 'The environment is stopped.' : 'The job that stops it runs.';
    return redirect(`${environmentsPath(project)}/${environmentId}`, notice);
  },
});

const remove = page({
  method: 'POST',
  path: `${servedEnvironments}/:id/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { project: of, id: environmentId }) => {
    const project = await administered(visit, of);
    await deleteEnvironment(visit.call, project, environmentId);
    return redirect(environmentsPath(project), 'The environment is deleted.');
  },
});

export const actPages = [create, update, stop, remove];
