/** Where something is looked after that the instance, groups and projects have alike: the same pages in each place. */
import type { Call } from '../../../access/call.ts';
import type { GroupAction, ProjectAction } from '../../../access/may.ts';
import { Failure } from '../../../errors.ts';
import { type Group, findGroupFor } from '../../../groups/find.ts';
import { text } from '../../../http/schema.ts';
import { type Project, findProjectFor } from '../../../projects/find.ts';
import { type Html, html } from '../../html.ts';
import type { AnyPage, View, Visit } from '../../page.ts';
import { adminView } from '../admin/admin_nav.ts';
import { groupPathOf, groupView, servedForGroup } from './group_view.ts';
import { pathOf, projectPath, projectView, served } from './project_view.ts';

export type Holder =
  | { scope: 'instance' }
  | { scope: 'group'; group: Group }
  | { scope: 'project'; project: Project };

export type Place = {
  holder: Holder;
  /** Of the list, as people see it. */
  path: string;
  view: (visit: Visit, title: string, content: Html) => View;
  /** Leads to the same of the group above; null: there is none, or it is not the visitor's to look after. */
  above: Html | null;
};

/** What the address says of the place. */
export type PlaceParams = { project?: string; group?: string };

export type PlaceKind = {
  audience: AnyPage['audience'];
  /** Of the list, as it is served. */
  served: string;
  params: Record<string, object>;
  /** @throws Failure 404, 403 */
  find: (visit: Visit, params: PlaceParams) => Promise<Place>;
};

type Noun = 'runners' | 'variables';

const actions: Record<Noun, { group: GroupAction; project: ProjectAction }> = {
  runners: { group: 'admin_group_runner', project: 'admin_runner' },
  variables: { group: 'admin_group_variable', project: 'admin_variable' },
};

const linkTo = async (call: Call, groupId: number, noun: Noun): Promise<Html | null> => {
  try {
    const group = await findGroupFor(call, groupId, actions[noun].group);
    return html`<p><a href="${groupPathOf(group, noun)}">Those of the group ${group.full_path}</a></p>
`;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
};

const ofInstance = (noun: Noun): PlaceKind => {
  const path = `/admin/${noun}` as const;
  return {
    audience: 'admin',
    served: path,
    params: {},
    find: async () => ({
      holder: { scope: 'instance' },
      path,
      above: null,
      view: (_visit, title, content) => adminView({ path, title }, content),
    }),
  };
};

const ofGroup = (noun: Noun): PlaceKind => ({
  audience: 'user',
  served: `${servedForGroup}/${noun}`,
  params: { group: text({ maxLength: 1_000 }) },
  find: async ({ call }, params) => {
    const group = await findGroupFor(call, params.group ?? '', actions[noun].group);
    return {
      holder: { scope: 'group', group },
      path: groupPathOf(group, noun),
      above: group.parent_id === null ? null : await linkTo(call, group.parent_id, noun),
      view: (visit, title, content) => groupView(visit, { group, title, noun }, content),
    };
  },
});

const ofProject = (noun: Noun): PlaceKind => ({
  audience: 'user',
  served: `${served}/${noun}`,
  params: projectPath,
  find: async ({ call }, params) => {
    const project = await findProjectFor(call, params.project ?? '', actions[noun].project);
    return {
      holder: { scope: 'project', project },
      path: pathOf(project, noun),
      above: await linkTo(call, project.namespace_id, noun),
      view: (visit, title, content) => projectView(visit, { project, title, noun }, content),
    };
  },
});

export const placesOf = (noun: Noun) => ({
  instance: ofInstance(noun),
  group: ofGroup(noun),
  project: ofProject(noun),
});
