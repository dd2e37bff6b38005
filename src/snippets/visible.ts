/** Who sees a snippet: one rule, as a predicate and as SQL, that a property test holds together. */
import { type RawBuilder, sql } from 'kysely';
import { type Viewer, projectLevel } from '../access/viewer.ts';
import { allOf, anyOf, isOpenTo } from '../access/visible.ts';
import type { SnippetsTable, Visibility } from '../db/schema.ts';

type Facts = Pick<SnippetsTable, 'author_id' | 'visibility'>;

/** A project that the viewer sees with its snippets; null: of personal ones. */
type Home = { id: number; namespace_id: number } | null;

const all: Visibility[] = ['private', 'internal', 'public'];

/** Members of a project, and administrators, see all there. */
const seesAll = (viewer: Viewer, home: Home): boolean =>
  viewer.admin || (home !== null && projectLevel(viewer, home) > 0);

export const canSeeSnippet = (viewer: Viewer, home: Home, snippet: Facts): boolean =>
  seesAll(viewer, home) || isOpenTo(viewer, snippet.visibility) || snippet.author_id === viewer.user_id;

/** Over `snippets` of this home: the same. */
export const visibleSnippets = (viewer: Viewer, home: Home): RawBuilder<boolean> => {
  const here =
    home === null
      ? sql<boolean>`snippets.project_id is null`
      : sql<boolean>`snippets.project_id = ${home.id}`;
  if (seesAll(viewer, home)) return here;
  const open = all.filter((visibility) => isOpenTo(viewer, visibility));
  return allOf([
    here,
    anyOf([
      sql<boolean>`snippets.visibility in (${sql.join(open)})`,
      ...(viewer.user_id === null ? [] : [sql<boolean>`snippets.author_id = ${viewer.user_id}`]),
    ]),
  ]);
};
