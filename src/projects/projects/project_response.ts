import { type Call, requireActor } from '../../core/access/call.ts';
import { loadViewer } from '../../core/access/viewer.ts';
import { notFound } from '../../platform/errors.ts';
import { projectsJson } from './json.ts';
import { projectRows } from './rows.ts';

/** Renders the current state of a project. */
export const projectAnswer = async (call: Call, id: number, statistics = false) => {
  const row = await projectRows(call).where('projects.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Project');
  return (await projectsJson(call, [row], 'full', statistics))[0];
};

/** Renders a new project with its creator's new role. */
export const newProjectAnswer = async (call: Call, id: number) => {
  const { user } = requireActor(call);
  return await projectAnswer({ ...call, viewer: await loadViewer(call.db, user, call.now) }, id);
};
