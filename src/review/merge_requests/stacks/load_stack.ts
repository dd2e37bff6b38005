/** Loads stacks: a merge request whose target branch is the source branch of another open one is stacked on it. */
import type { Selectable } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { MergeRequestsTable } from '../../../platform/db/schema/review.ts';
import type { LoadedMergeRequest } from '../find.ts';

export type StackedRequest = Pick<
  Selectable<MergeRequestsTable>,
  'id' | 'iid' | 'title' | 'source_branch' | 'target_branch' | 'head_sha' | 'merge_status'
>;

export type Stack = {
  /** Merge requests below it in its stack, the nearest first. */
  below: StackedRequest[];
  /** Merge requests above it, the nearest first. */
  above: StackedRequest[];
};

type Placed = Pick<LoadedMergeRequest, 'merge_request' | 'project'>;

/** Maximum number of requests on each side. */
const maxStacked = 10;

/**
 * Selects the open requests within a project. Branches of forks can have the same names, and are not part of a stack.
 */
const selectOpen = (db: Reader, projectId: number) =>
  db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'title', 'source_branch', 'target_branch', 'head_sha', 'merge_status'])
    .where('project_id', '=', projectId)
    .where('source_project_id', '=', projectId)
    .where('state', '=', 'opened')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(maxStacked);

const selectBelow = compiled((db, { project_id, branch }: { project_id: number; branch: string }) =>
  selectOpen(db, project_id).where('source_branch', '=', branch).compile(),
);

const selectInto = compiled((db, { project_id, branch }: { project_id: number; branch: string }) =>
  selectOpen(db, project_id).where('target_branch', '=', branch).compile(),
);

/** Selects the requests into some branches: into one, as for most, without building the query. */
const selectAbove = async (db: Reader, project_id: number, branches: readonly string[]) => {
  const [branch = '', ...others] = branches;
  return others.length === 0
    ? await selectInto(db, { project_id, branch })
    : await selectOpen(db, project_id).where('target_branch', 'in', branches).execute();
};

const loadBelow = async (
  db: Reader,
  projectId: number,
  top: Pick<StackedRequest, 'id' | 'target_branch'>,
): Promise<StackedRequest[]> => {
  const below: StackedRequest[] = [];
  const seen = new Set([top.id]);
  for (let { target_branch } = top; below.length < maxStacked;) {
    const requests = await selectBelow(db, { project_id: projectId, branch: target_branch });
    const next = requests.find(({ id }) => !seen.has(id));
    if (next === undefined) break;
    seen.add(next.id);
    below.push(next);
    ({ target_branch } = next);
  }
  return below;
};

const loadAbove = async (
  db: Reader,
  projectId: number,
  base: Pick<StackedRequest, 'id' | 'source_branch'>,
): Promise<StackedRequest[]> => {
  const above: StackedRequest[] = [];
  const seen = new Set([base.id]);
  for (let branches = [base.source_branch]; branches.length > 0 && above.length < maxStacked;) {
    const requests = await selectAbove(db, projectId, branches);
    const next = requests.filter(({ id }) => !seen.has(id)).slice(0, maxStacked - above.length);
    for (const { id } of next) seen.add(id);
    above.push(...next);
    branches = next.map(({ source_branch }) => source_branch);
  }
  return above;
};

/** Returns whether a request can be part of a stack: it is open, and not from a fork. */
const isStackable = ({ merge_request, project }: Placed): boolean =>
  merge_request.state === 'opened' && merge_request.source_project_id === project.id;

/**
 * Returns the target branch of the lowest request of the stack: the target of this request once the requests below are
 * merged.
 */
export const findFinalTarget = async (db: Reader, placed: Placed): Promise<string> => {
  const { merge_request, project } = placed;
  const below = isStackable(placed) ? await loadBelow(db, project.id, merge_request) : [];
  return below.at(-1)?.target_branch ?? merge_request.target_branch;
};

/** Loads the stack that an open request is part of; both sides are empty if it is alone. */
export const loadStack = async (db: Reader, placed: LoadedMergeRequest): Promise<Stack> => {
  const { merge_request, project } = placed;
  if (!isStackable(placed)) return { below: [], above: [] };
  const [below, above] = await Promise.all([
    loadBelow(db, project.id, merge_request),
    loadAbove(db, project.id, merge_request),
  ]);
  return { below, above };
};
