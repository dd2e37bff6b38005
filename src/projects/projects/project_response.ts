import { type Call, requireActor } from '../../core/access/call.ts';
import { loadViewer } from '../../core/access/viewer.ts';
import { notFound } from '../../platform/errors.ts';
import { projectsJson } from './json.ts';
import { loadRootLinks } from './related/root_files.ts';
import { projectRows } from './rows.ts';

type Additions = { statistics?: boolean | undefined; license?: boolean | undefined };

/** Renders the current state of a project. @param additions what is answered on request only */
export const projectAnswer = async (
  call: Call,
  id: number,
  { statistics = false, license = false }: Additions = {},
) => {
  const row = await projectRows(call).where('projects.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Project');
  const [json] = await projectsJson(call, [row], 'full', statistics);
  const { readme_url, license_url } = await loadRootLinks(call, row);
  return { ...json, readme_url, ...(license && { license_url }) };
};

/** Renders a new project with its creator's new role. */
export const newProjectAnswer = async (call: Call, id: number) => {
  const { user } = requireActor(call);
  return await projectAnswer({ ...call, viewer: await loadViewer(call.db, user, call.now) }, id);
};
