import { type Call, requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { getOutgoingRules } from '../../core/settings/setting_effects.ts';
import { invalid, nothingToChange } from '../../platform/errors.ts';
import {
  boolean,
  clearable,
  id as idParam,
  idOrPath,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { withAvatar } from '../../identity/avatars/store_avatar.ts';
import { loadUser } from '../../identity/users/queries.ts';
import { featuresWithoutEffect } from './features.ts';
import { newProjectAnswer, projectAnswer } from './project_response.ts';
import { projectAvatar } from './avatar_routes.ts';
import { createProject } from './create.ts';
import { readProjectInput, projectParams } from './fields.ts';
import { findProject, findProjectFor } from './find.ts';
import { projectShape } from './json.ts';
import { type ImportSource, maxUrlLength, readImportSource } from './imports/import_source.ts';
import { importStatus } from './imports/routes.ts';
import { listProjects, projectListParams } from './lists/list.ts';
import { groupProjects } from './lists/group_projects.ts';
import { showGroup } from './lists/show_group.ts';
import { transferLocations } from './lists/transfer_locations.ts';
import { ofUser } from './lists/user_projects.ts';
import {
  type MoveRepository,
  type StorageParams,
  projectStorage,
  readStorage,
  storageParam,
} from './related/storage.ts';
import { removeProject } from './removal/remove.ts';
import { type TransferRecords, transferProject } from './transfer.ts';
import { archiveProject, updateProject } from './update.ts';

const area = 'projects';
const project = idOrPath('id or full path of the project');

const list = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'List projects',
  area,
  audience: 'optional',
  params: object(projectListParams),
  reply: projectShape,
  list: true,
  cached: true,
  handle: async (call, params) => await listProjects(call, params),
});

const show = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  area,
  audience: 'optional',
  params: object({
    id: project,
    license: optional(boolean({ description: 'include the license' })),
    statistics: optional(boolean({ description: 'include sizes (reporters)' })),
  }),
  reply: projectShape,
  handle: async (call, { id, ...additions }) =>
    await projectAnswer(call, (await findProject(call, id)).id, additions),
});

const withoutEffect = ({ platform }: Call): readonly string[] => featuresWithoutEffect(platform.config);

const importParam = {
  import_url: optional(
    clearable(
      text({
        maxLength: maxUrlLength,
        description: 'http(s) URL of a repository to import, with user name and password if required',
      }),
    ),
  ),
};

/** Reads the repository to import, if there is one. @throws Failure 400 */
const readSource = (call: Call, url: string | null | undefined): { source?: ImportSource } => {
  if (url === undefined || url === null || url.trim() === '') return {};
  return { source: readImportSource(url, getOutgoingRules(call.settings)) };
};

const withStorage = (call: Call, params: StorageParams): StorageParams => {
  const repository_storage = readStorage(call, params);
  return repository_storage === undefined ? {} : { repository_storage };
};

const requireOneBeginning = (hasReadme: boolean, { source }: { source?: ImportSource }): void => {
  if (hasReadme && source !== undefined)
    throw invalid({ initialize_with_readme: ['cannot be combined with import_url'] });
};

/** Initializes a new project's repository. */
type Initialize = (call: Call, projectId: number, branch: string | undefined) => Promise<void>;

const create = (initialize: Initialize) =>
  endpoint({
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    withoutEffect,
    area,
    audience: 'user',
    params: object({
      namespace_id: optional(clearable(idParam("default: the caller's namespace"))),
      ...projectParams,
      initialize_with_readme: optional(boolean({ description: 'create a README as the first commit' })),
      ...importParam,
      ...storageParam,
    }),
    reply: projectShape,
    handle: async (call, { namespace_id = null, import_url, ...params }) => {
      const source = readSource(call, import_url);
      requireOneBeginning(params.initialize_with_readme === true, source);
      const id = await withAvatar(
        call.platform,
        params.avatar,
        async (avatar) =>
          await createProject(call, requireUser(call), namespace_id, {
            ...readProjectInput(params),
            ...withStorage(call, params),
            ...avatar,
            ...source,
          }),
      );
      if (params.initialize_with_readme === true) await initialize(call, id, params.default_branch);
      return await newProjectAnswer(call, id);
    },
  });

const createForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Create a project for a user (administrators)',
  withoutEffect,
  area,
  audience: 'admin',
  params: object({ user_id: idParam(), ...projectParams, ...importParam, ...storageParam }),
  reply: projectShape,
  handle: async (call, { user_id, import_url, ...params }) => {
    const creator = await loadUser(call.db, user_id);
    const columns = {
      ...readProjectInput(params),
      ...withStorage(call, params),
      ...readSource(call, import_url),
    };
    const id = await withAvatar(
      call.platform,
      params.avatar,
      async (avatar) => await createProject(call, creator, null, { ...columns, ...avatar }),
    );
    return await newProjectAnswer(call, id);
  },
});

const update = (moveRepository: MoveRepository) =>
  endpoint({
    method: 'PUT',
    path: '/projects/:id',
    summary: 'Update a project',
    withoutEffect,
    area,
    audience: 'user',
    params: object({ id: project, ...projectParams, ...storageParam }),
    reply: projectShape,
    handle: async (call, { id, ...params }) => {
      const loaded = await findProjectFor(call, id, 'admin_project');
      if (Object.keys(params).length === 0) {
        throw nothingToChange(Object.keys(projectParams));
      }
      const storage = readStorage(call, params);
      await withAvatar(call.platform, params.avatar, async (avatar) => {
        await updateProject(call, loaded, { ...readProjectInput(params), ...avatar }, async (tx, locked) => {
          if (storage !== undefined && storage !== locked.repository_storage)
            await moveRepository(call, tx, locked, storage);
        });
      });
      return await projectAnswer(call, loaded.id);
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Delete a project',
  area,
  audience: 'user',
  status: 202,
  params: object({ id: project }),
  reply: object({ message: string }),
  handle: async (call, { id }) => {
    const loaded = await findProjectFor(call, id, 'remove_project');
    requireUnmodified(call.header('if-unmodified-since'), loaded.updated_at);
    await removeProject(call, loaded);
    return { message: '202 Accepted' };
  },
});

const archiving = (word: 'archive' | 'unarchive', archived: 0 | 1) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${word}`,
    summary: archived === 1 ? 'Archive a project' : 'Unarchive a project',
    area,
    audience: 'user',
    params: object({ id: project }),
    reply: projectShape,
    handle: async (call, { id }) => {
      const loaded = await findProjectFor(call, id, 'archive_project');
      await archiveProject(call, loaded, archived);
      return await projectAnswer(call, loaded.id);
    },
  });

const transfer = (transferRecords: TransferRecords) =>
  endpoint({
    method: 'PUT',
    path: '/projects/:id/transfer',
    summary: 'Transfer a project to another namespace',
    area,
    audience: 'user',
    params: object({ id: project, namespace: idOrPath('id or full path of the namespace') }),
    reply: projectShape,
    handle: async (call, { id, namespace }) => {
      const loaded = await findProjectFor(call, id, 'transfer_project');
      await transferProject(call, loaded, namespace, transferRecords);
      return await projectAnswer(call, loaded.id);
    },
  });

/** Operations of other modules that projects need. */
export type Others = {
  /** Makes the first commit of a project that starts with one. */
  initialize: Initialize;
  transferRecords: TransferRecords;
  moveRepository: MoveRepository;
};

export const projectRoutes = ({ initialize, transferRecords, moveRepository }: Others) => [
  list,
  ofUser,
  show,
  create(initialize),
  createForUser,
  update(moveRepository),
  remove,
  transfer(transferRecords),
  transferLocations,
  projectStorage,
  archiving('archive', 1),
  archiving('unarchive', 0),
  projectAvatar,
  importStatus,
  showGroup,
  groupProjects,
];
