/** Moves of repositories between storages, for administrators. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  id as idParam,
  int,
  nullable,
  object,
  optional,
  string,
  text,
  timestamp,
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { joinNames, loadFullNames } from '../../../identity/namespaces/full_names.ts';
import { findProject } from '../../../projects/projects/find.ts';
import { projectParam } from '../find_code.ts';
import { type MoveRow, findMove, listMoves } from './queries.ts';
import { startMove, startMoveOfAll } from './start_moves.ts';

const area = 'repository';

const shape = object({
  id: int,
  created_at: timestamp,
  state: string,
  source_storage_name: string,
  destination_storage_name: string,
  error_message: nullable(string),
  project: object({
    id: int,
    description: nullable(string),
    name: string,
    name_with_namespace: string,
    path: string,
    path_with_namespace: string,
    created_at: timestamp,
  }),
});

const toJson = async (call: Call, rows: readonly MoveRow[]) => {
  const names = await loadFullNames(
    call.db,
    rows.map((row) => ({
      id: row.namespace_id,
      name: row.namespace_name,
      parent_id: row.namespace_parent_id,
    })),
  );
  return rows.map((row) => ({
    id: row.id,
    created_at: formatTime(row.created_at),
    state: row.state,
    source_storage_name: row.source_storage,
    destination_storage_name: row.destination_storage,
    error_message: row.error,
    project: {
      id: row.project_id,
      description: row.description,
      name: row.name,
      name_with_namespace: joinNames(names.get(row.namespace_id) ?? '', row.name),
      path: row.path,
      path_with_namespace: row.full_path,
      created_at: formatTime(row.project_created_at),
    },
  }));
};

const oneJson = async (call: Call, row: MoveRow) => (await toJson(call, [row]))[0];

const destinationParam = optional(text({ description: 'a configured storage; default: any other storage' }));

const list = endpoint({
  method: 'GET',
  path: '/project_repository_storage_moves',
  summary: 'List repository moves',
  area,
  audience: 'admin',
  list: true,
  params: object(pageParams),
  reply: shape,
  handle: async (call, params) => {
    const { items, total } = await listMoves(call.db, null, pageRequest(params));
    return { items: await toJson(call, items), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: '/project_repository_storage_moves/:repository_storage_move_id',
  summary: 'Get a repository move',
  area,
  audience: 'admin',
  params: object({ repository_storage_move_id: idParam('id of the move') }),
  reply: shape,
  handle: async (call, { repository_storage_move_id: id }) =>
    await oneJson(call, await findMove(call.db, null, id)),
});

const moveAll = endpoint({
  method: 'POST',
  path: '/project_repository_storage_moves',
  summary: 'Move all repositories of a storage, in background work',
  area,
  audience: 'admin',
  params: object({
    source_storage_name: text({ description: 'a configured storage' }),
    destination_storage_name: destinationParam,
  }),
  reply: object({ message: string }),
  status: 202,
  handle: async (call, { source_storage_name: source, destination_storage_name: named }) => {
    await startMoveOfAll(call, source, named);
    return new Answer({ message: '202 Accepted' }, { status: 202 });
  },
});

const projectPath = '/projects/:id/repository_storage_moves';

const listOfProject = endpoint({
  method: 'GET',
  path: projectPath,
  summary: 'List repository moves of a project',
  area,
  audience: 'admin',
  list: true,
  params: object({ id: projectParam, ...pageParams }),
  reply: shape,
  handle: async (call, { id, ...params }) => {
    const project = await findProject(call, id);
    const { items, total } = await listMoves(call.db, project.id, pageRequest(params));
    return { items: await toJson(call, items), total };
  },
});

const oneOfProject = endpoint({
  method: 'GET',
  path: `${projectPath}/:repository_storage_move_id`,
  summary: 'Get a repository move of a project',
  area,
  audience: 'admin',
  params: object({ id: projectParam, repository_storage_move_id: idParam('id of the move') }),
  reply: shape,
  handle: async (call, { id, repository_storage_move_id: moveId }) => {
    const project = await findProject(call, id);
    return await oneJson(call, await findMove(call.db, project.id, moveId));
  },
});

const move = endpoint({
  method: 'POST',
  path: projectPath,
  summary: "Move a project's repository to another storage, in background work",
  area,
  audience: 'admin',
  params: object({ id: projectParam, destination_storage_name: destinationParam }),
  reply: shape,
  handle: async (call, { id, destination_storage_name: named }) => {
    const project = await findProject(call, id);
    const moveId = await startMove(call, project, named);
    return await oneJson(call, await findMove(call.db, project.id, moveId));
  },
});

export const moveRoutes = [list, show, moveAll, listOfProject, oneOfProject, move];
