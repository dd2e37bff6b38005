import { type Call, actorOf } from '../access/call.ts';
import { loadViewer } from '../access/viewer.ts';
import { notFound } from '../errors.ts';
import { projectsJson } from './json.ts';
import { projectRows } from './rows.ts';

/** The project as it is stored now. */
export const projectAnswer = async (call: Call, id: number, statistics = false) => {
  const row = await projectRows(call).where('projects.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Project');
  return (await projectsJson(call, [row], 'full', statistics))[0];
};

/** A new project, with the role in it that its maker has since. */
export const newProjectAnswer = async (call: Call, id: number) => {
  const { user } = actorOf(call);
  return await projectAnswer({ ...call, viewer: await loadViewer(call.db, user, call.now) }, id);
};
