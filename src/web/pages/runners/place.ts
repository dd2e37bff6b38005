/** Where runners are looked after: of the whole instance by its administrators, of a project by its masters. */
import { type RawBuilder, sql } from 'kysely';
import { text } from '../../../http/schema.ts';
import { type Project, findProjectFor } from '../../../projects/find.ts';
import type { RunnerOwner } from '../../../runners/create.ts';
import { runnersForProject } from '../../../runners/queries.ts';
import type { Html } from '../../html.ts';
import type { AnyPage, View, Visit } from '../../page.ts';
import { adminView } from '../admin/admin_nav.ts';
import { pathOf, projectView, served } from '../ci/project_view.ts';

export type Place = {
  /** Of the list, as people see it. */
  path: string;
  which: RawBuilder<boolean>;
  /** Whose runners are made here. */
  owner: RunnerOwner;
  /** null: the instance. */
  project: Project | null;
  view: (visit: Visit, title: string, content: Html) => View;
};

export type PlaceKind = {
  audience: AnyPage['audience'];
  /** Of the list, as it is served. */
  served: string;
  params: Record<string, object>;
  /** @throws Failure 404, 403 */
  find: (visit: Visit, params: { project?: string }) => Promise<Place>;
};

const adminPath = '/admin/runners';

export const instance: PlaceKind = {
  audience: 'admin',
  served: adminPath,
  params: {},
  find: async () => ({
    path: adminPath,
    which: sql<boolean>`1 = 1`,
    owner: { runner_type: 'instance_type' },
    project: null,
    view: (_visit, title, content) => adminView({ path: adminPath, title }, content),
  }),
};

export const ofProject: PlaceKind = {
  audience: 'user',
  served: `${served}/runners`,
  params: { project: text({ maxLength: 1_000 }) },
  find: async ({ call }, params) => {
    const project = await findProjectFor(call, params.project ?? '', 'admin_runner');
    return {
      path: pathOf(project, 'runners'),
      which: runnersForProject(project),
      owner: { runner_type: 'project_type', project_id: project.id },
      project,
      view: (visit, title, content) => projectView(visit, { project, title, noun: 'runners' }, content),
    };
  },
};
