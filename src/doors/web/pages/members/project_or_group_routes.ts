/** Routes of the pages of members, which projects and groups share. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { text } from '../../../../platform/http/schema.ts';
import {
  type Source,
  type SourceKind,
  findReadable,
  groupSource,
  projectSource,
} from '../../../../projects/members/member_source.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import type { Html } from '../../parts/html.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import type { View, Visit } from '../../page.ts';
import { groupRoot, projectRoot } from '../../project_and_group_pages.ts';
import {
  type OwnerParams,
  type SettingsListParams,
  declareOwnerParams,
} from '../ci/owner_settings_routes.ts';

export type MemberList = {
  kind: SourceKind;
  source: Source;
  /** Full path of the project or group. */
  fullPath: string;
  /** Address of the list. */
  path: string;
  view: (visit: Visit, content: Html) => View;
};

export type MemberListRoute = {
  /** Route of the list. */
  routePath: string;
  params: OwnerParams;
  /** @throws Failure 404 for a hidden project or group, 403 if the visitor may not see its members */
  find: (visit: Visit, params: SettingsListParams) => Promise<MemberList>;
};

const title = 'Members';

const inProject: MemberListRoute = {
  routePath: `${projectRoot}/project_members`,
  params: declareOwnerParams(projectPath),
  find: async ({ call }, params) => {
    const project = await findProject(call, params.project ?? '');
    return {
      kind: projectSource,
      source: await findReadable(projectSource, call, project.id),
      fullPath: project.full_path,
      path: projectPagePath(project, 'project_members'),
      view: (visit, content) => projectView(visit, { project, title, noun: 'project_members' }, content),
    };
  },
};

const inGroup: MemberListRoute = {
  routePath: `${groupRoot}/group_members`,
  params: declareOwnerParams({ group: text({ maxLength: 1_000 }) }),
  find: async ({ call }, params) => {
    const group = await findGroup(call, params.group ?? '');
    return {
      kind: groupSource,
      source: await findReadable(groupSource, call, group.id),
      fullPath: group.full_path,
      path: groupPagePath(group, 'group_members'),
      view: (visit, content) => groupView(visit, { group, title, noun: 'group_members' }, content),
    };
  },
};

/** @throws Failure 404 for a hidden project or group, 403 for users who may not administer its members */
export const findAdministered = async (
  { find }: MemberListRoute,
  visit: Visit,
  params: SettingsListParams,
): Promise<MemberList> => {
  const list = await find(visit, params);
  if (!list.source.mayAdmin) throw forbidden();
  return list;
};

export const memberListRoutes = [inProject, inGroup];
