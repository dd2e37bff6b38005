/** The query of a list of issues or merge requests, and the parts that depend on the kind of record. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { PageRequest } from '../../../platform/http/page.ts';
import { selectDescendants } from '../../../identity/namespaces/ancestors.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { ColumnCount, Columns } from './column_counts.ts';
import type { Filters } from './filter_params.ts';
import { type Listed } from './record_kinds.ts';
import { type IndexedCondition } from './named_filters.ts';
import type { TextLoader } from './json_cache.ts';

type Condition = RawBuilder<boolean>;

/** Id of no user: filters by the user's own records match nothing for anonymous visitors. */
const nobodyId = 0;

export const getUserId = ({ actor }: Pick<Call, 'actor'>): number => actor?.user.id ?? nobodyId;

/** Scope of a list: one project, a group with its subgroups, or everywhere. */
export type Scope = { project: Project } | { group_id: number } | 'everywhere';

export type TotalQuery = {
  /** One project whose records the caller sees; null: all projects visible to them. */
  project: Project | null;
  /** SQL condition over `projects`: the projects in the scope. */
  place: Condition[];
  state: string;
};

/** Inputs of the conditions other than the filters. */
export type ListRequester = { viewer: Viewer; dialect: SqlDialect; today: string };

/** The parts of a list that depend on the kind of record. */
export type ListKind<F extends Filters> = Listed & {
  /** Conditions of the kind's own filters. */
  own: (filters: F, requester: ListRequester) => Condition[];
  /**
   * True if filters use data whose changes do not increase the list version of a project: such lists are never cached.
   */
  isUnversioned?: (filters: F) => boolean;
  /** Filters of the kind whose columns have an index. */
  indexed: (filters: F, place: { isInProject: boolean; today: string }) => IndexedCondition[];
  /** Visibility condition for a query that joins `projects`. */
  visible: (viewer: Viewer, dialect: SqlDialect) => Condition;
  /** Visibility condition for records of one project, if the viewer may see some of them. */
  visibleIn: (viewer: Viewer, project: Project) => Condition;
  /** True if the viewer may see any records of the project. */
  isOpen: (viewer: Viewer, project: Project) => boolean;
  /** True if the viewer may see all records of the project. */
  seesAll: (viewer: Viewer, project: Project) => boolean;
  /** Further columns of the version of a record, and whether the viewer may see what they count in a project. */
  shown?: {
    columns: (viewer: Viewer, project: Project | null, dialect: SqlDialect) => RawBuilder<unknown>;
    isSeen: (viewer: Viewer, project: Project) => boolean;
  };
  /** Number of records in the project. */
  size: (project: Project) => number;
  /** Exact number of visible records, filtered by state only. */
  total: (call: Call, query: TotalQuery) => Promise<number>;
  /** Counts the open records of a project by column from stored counters; null if they do not have these columns. */
  byColumn?: (call: Call, project: Project, columns: Columns) => Promise<ColumnCount[] | null>;
};

export type Query<F> = {
  call: Call;
  scope: Scope;
  filters: F;
  page: PageRequest;
  texts: TextLoader;
  /** Number of records before the page, if the caller can estimate it. */
  passed?: number;
};

export const getProject = (scope: Scope): Project | null =>
  typeof scope === 'object' && 'project' in scope ? scope.project : null;

/** Returns the condition over `projects` that selects a group and its subgroups; none for other scopes. */
export const inGroup = (scope: Scope): Condition[] =>
  typeof scope === 'object' && 'group_id' in scope
    ? [sql`projects.namespace_id in ${selectDescendants(scope.group_id)}`]
    : [];
