/** Visibility of snippets as a predicate and as SQL. A property test compares both. */
import { type RawBuilder, sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { type Viewer, getProjectLevel } from '../../core/access/viewer.ts';
import {
  allOf,
  anyOf,
  isOpenTo,
  projectsAtLeast,
  visibleFeature,
  visibleProjects,
} from '../../core/access/visible.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { SnippetsTable } from '../../platform/db/schema/projects.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';

type Facts = Pick<SnippetsTable, 'author_id' | 'visibility'>;

/** A project whose snippets the viewer sees; null: personal snippets. */
type Home = { id: number; namespace_id: number } | null;

const visibilities: Visibility[] = ['private', 'internal', 'public'];

/** Returns whether the viewer sees all snippets there: members of the project and administrators. */
const seesAll = (viewer: Viewer, home: Home): boolean =>
  viewer.admin || (home !== null && getProjectLevel(viewer, home) > 0);

export const canSeeSnippet = (viewer: Viewer, home: Home, snippet: Facts): boolean =>
  seesAll(viewer, home) || isOpenTo(viewer, snippet.visibility) || snippet.author_id === viewer.user_id;

/** Over `snippets`: open to the viewer, or their own. */
const openOrOwn = (viewer: Viewer): RawBuilder<boolean> => {
  const open = visibilities.filter((visibility) => isOpenTo(viewer, visibility));
  return anyOf([
    sql<boolean>`snippets.visibility in (${sql.join(open)})`,
    ...(viewer.user_id === null ? [] : [sql<boolean>`snippets.author_id = ${viewer.user_id}`]),
  ]);
};

/** Over `snippets` of this home: the same rule. */
export const visibleSnippets = (viewer: Viewer, home: Home): RawBuilder<boolean> => {
  const here =
    home === null
      ? sql<boolean>`snippets.project_id is null`
      : sql<boolean>`snippets.project_id = ${home.id}`;
  return seesAll(viewer, home) ? here : allOf([here, openOrOwn(viewer)]);
};

/** Over `snippets` joined with `projects`: the same rule, in projects. */
const inVisibleProject = (viewer: Viewer, dialect: SqlDialect): RawBuilder<boolean> =>
  allOf([
    visibleProjects(viewer, dialect),
    visibleFeature(viewer, 'snippets_access_level', dialect),
    anyOf([openOrOwn(viewer), projectsAtLeast(viewer, levels.guest, dialect)]),
  ]);

/** Over `projects`: whether a snippet of the project exists that the viewer sees. @param id of the snippet */
export const visibleSnippetOf = (
  id: RawBuilder<unknown>,
  viewer: Viewer,
  dialect: SqlDialect,
): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from snippets where snippets.id = ${id}
    and snippets.project_id = projects.id and ${inVisibleProject(viewer, dialect)})`;

/** Over `snippets` left joined with `projects`: the same rule, of all homes. */
export const visibleSnippetsAnywhere = (viewer: Viewer, dialect: SqlDialect): RawBuilder<boolean> => {
  return anyOf([visibleSnippets(viewer, null), inVisibleProject(viewer, dialect)]);
};
