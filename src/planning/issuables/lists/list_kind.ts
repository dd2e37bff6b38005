/** What a list of issues or merge requests is asked for, and the parts that depend on the kind of record. */
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
import { type Measured } from './named_filters.ts';
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
  own: (filters: F, asking: ListRequester) => Condition[];
  /** Whether filters select by what raises no version of a project: such lists are never cached. */
  isUnversioned?: (filters: F) => boolean;
  /** The conditions that have an index. */
  measured: (filters: F, isInProject: boolean) => Measured[];
  /** Visibility condition for a query that joins `projects`. */
  visible: (viewer: Viewer, dialect: SqlDialect) => Condition;
  /** Over records of one project that the viewer may see some of. */
  visibleIn: (viewer: Viewer, project: Project) => Condition;
  /** Whether the viewer may see any of the project. */
  isOpen: (viewer: Viewer, project: Project) => boolean;
  /** Whether the viewer may see all of the project. */
  seesAll: (viewer: Viewer, project: Project) => boolean;
  /** Columns of a record's version beside its revision, and whether the viewer sees what they count of a project. */
  shown?: {
    columns: (viewer: Viewer, project: Project | null, dialect: SqlDialect) => RawBuilder<unknown>;
    isSeen: (viewer: Viewer, project: Project) => boolean;
  };
  /** How many there are in the project. */
  size: (project: Project) => number;
  /** Exact, after visibility, without any filter but the state. */
  total: (call: Call, query: TotalQuery) => Promise<number>;
  /** All open records of a project by column, from kept counters; null: these do not say it. */
  byColumn?: (call: Call, project: Project, columns: Columns) => Promise<ColumnCount[] | null>;
};

export type Query<F> = {
  call: Call;
  scope: Scope;
  filters: F;
  page: PageRequest;
  texts: TextLoader;
  /** Records that the page is expected to pass over, where the caller knows. */
  passed?: number;
};

export const getProject = (scope: Scope): Project | null =>
  typeof scope === 'object' && 'project' in scope ? scope.project : null;

/** Over `projects`, where a list is not of one project. */
export const inGroup = (scope: Scope): Condition[] =>
  typeof scope === 'object' && 'group_id' in scope
    ? [sql`projects.namespace_id in ${selectDescendants(scope.group_id)}`]
    : [];
