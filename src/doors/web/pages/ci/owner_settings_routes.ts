/** Routes of the settings pages that the instance, groups and projects share. */
import type { TOptional, TSchema, TUnsafe } from 'typebox';
import type { Call } from '../../../../core/access/call.ts';
import type { GroupAction, ProjectAction } from '../../../../core/access/may.ts';
import { Failure } from '../../../../platform/errors.ts';
import { type Group, findGroupFor } from '../../../../identity/groups/find.ts';
import { text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type Html, html } from '../../parts/html.ts';
import type { AnyPage, View, Visit } from '../../page.ts';
import { adminView } from '../../parts/frame/admin_layout.ts';
import { groupPagePath, groupView } from '../../parts/frame/group_layout.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

export type SettingsOwner =
  | { scope: 'instance' }
  | { scope: 'group'; group: Group }
  | { scope: 'project'; project: Project };

export type SettingsList = {
  owner: SettingsOwner;
  /** Public path of the list. */
  path: string;
  view: (visit: Visit, title: string, content: Html) => View;
  /** Link to the same page of the parent group; null: none that the visitor may manage. */
  above: Html | null;
};

/** Parameters that identify the owner. */
export type SettingsListParams = { project?: string; group?: string };

export type OwnerParams = { project: TOptional<TUnsafe<string>>; group: TOptional<TUnsafe<string>> };

/** Declares the parameters of one kind of owner; those of the other are absent. */
export const declareOwnerParams = (params: Partial<Record<keyof OwnerParams, TSchema>>): OwnerParams =>
  params as OwnerParams;

export type SettingsListRoute = {
  audience: AnyPage['audience'];
  /** Route of the list. */
  routePath: string;
  params: OwnerParams;
  /** @throws Failure 404, 403 */
  find: (visit: Visit, params: SettingsListParams) => Promise<SettingsList>;
};

type SettingsNoun = 'runners' | 'variables' | 'hooks';

/** Settings that the instance does not have. */
type PlacedNoun = 'settings/access_tokens' | 'deploy_tokens' | 'settings/badges';

const actions: Record<SettingsNoun | PlacedNoun, { group: GroupAction; project: ProjectAction }> = {
  runners: { group: 'admin_group_runner', project: 'admin_runner' },
  variables: { group: 'admin_group_variable', project: 'admin_variable' },
  hooks: { group: 'admin_group_hook', project: 'admin_hook' },
  'settings/access_tokens': { group: 'admin_group_member', project: 'admin_member' },
  deploy_tokens: { group: 'admin_group', project: 'admin_project' },
  'settings/badges': { group: 'admin_group', project: 'admin_project' },
};

const nounTexts: Record<SettingsNoun | PlacedNoun, string> = {
  runners: 'Runners',
  variables: 'Variables',
  hooks: 'Webhooks',
  'settings/access_tokens': 'Access tokens',
  deploy_tokens: 'Deploy tokens',
  'settings/badges': 'Badges',
};

const linkTo = async (call: Call, groupId: number, noun: SettingsNoun | PlacedNoun): Promise<Html | null> => {
  try {
    const group = await findGroupFor(call, groupId, actions[noun].group);
    return html`<p><a href="${groupPagePath(group, noun)}">${nounTexts[noun]} of the group ${group.full_path}</a></p>
`;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
};

const ofInstance = (noun: SettingsNoun): SettingsListRoute => {
  const path = `/admin/${noun}` as const;
  return {
    audience: 'admin',
    routePath: path,
    params: declareOwnerParams({}),
    find: async () => ({
      owner: { scope: 'instance' },
      path,
      above: null,
      view: (_visit, title, content) => adminView({ path, title }, content),
    }),
  };
};

const ofGroup = (noun: SettingsNoun | PlacedNoun): SettingsListRoute => ({
  audience: 'user',
  routePath: `${groupRoot}/${noun}`,
  params: declareOwnerParams({ group: text({ maxLength: 1_000 }) }),
  find: async ({ call }, params) => {
    const group = await findGroupFor(call, params.group ?? '', actions[noun].group);
    return {
      owner: { scope: 'group', group },
      path: groupPagePath(group, noun),
      above: group.parent_id === null ? null : await linkTo(call, group.parent_id, noun),
      view: (visit, title, content) => groupView(visit, { group, title, noun }, content),
    };
  },
});

const ofProject = (noun: SettingsNoun | PlacedNoun): SettingsListRoute => ({
  audience: 'user',
  routePath: `${projectRoot}/${noun}`,
  params: declareOwnerParams(projectPath),
  find: async ({ call }, params) => {
    const project = await findProjectFor(call, params.project ?? '', actions[noun].project);
    return {
      owner: { scope: 'project', project },
      path: projectPagePath(project, noun),
      above: await linkTo(call, project.namespace_id, noun),
      view: (visit, title, content) => projectView(visit, { project, title, noun }, content),
    };
  },
});

export const settingsListRoutes = (noun: SettingsNoun) => ({
  instance: ofInstance(noun),
  group: ofGroup(noun),
  project: ofProject(noun),
});

export const placedSettingsRoutes = (noun: PlacedNoun) => [ofGroup(noun), ofProject(noun)];
