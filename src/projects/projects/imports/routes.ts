import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { idOrPath, int, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { findProject } from '../find.ts';
import { projectAnswer } from '../project_response.ts';
import { importJson, loadImports } from './load_imports.ts';

export const importStatus = endpoint({
  method: 'GET',
  path: '/projects/:id/import',
  summary: 'Get the latest import of a project',
  area: 'projects',
  audience: 'user',
  params: object({ id: idOrPath('project') }),
  reply: object({
    id: int,
    description: nullable(string),
    name: string,
    name_with_namespace: string,
    path: string,
    path_with_namespace: string,
    created_at: timestamp,
    import_status: string,
    import_type: nullable(string),
    import_error: nullable(string),
  }),
  handle: async (call, { id }) => {
    const project = await findProject(call, id);
    const imports = await loadImports(call.db, [project.id]);
    const answer = await projectAnswer(call, project.id);
    const json = importJson(project, imports.get(project.id));
    return { ...answer, ...json, ...(!may(call.viewer, 'admin_project', project) && { import_error: null }) };
  },
});
