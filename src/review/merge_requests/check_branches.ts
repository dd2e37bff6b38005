/** Validates the source and target of a merge request, for create and update. */
import type { Reader } from '../../platform/db/open.ts';
import { Failure, conflict, invalid } from '../../platform/errors.ts';
import type { Project } from '../../projects/projects/find.ts';
import { getForkNetwork } from '../../code/repository/forks/fork_relation.ts';
import type { Heads } from './refresh/branch_heads.ts';

export type Pair = {
  source_project_id: number | null;
  source_branch: string;
  /** The target project. */
  project_id: number;
  target_branch: string;
};

const unprocessable = (text: string): Failure => new Failure('unprocessable', { message: [text] });

/** @throws Failure 422 if source and target are the same branch */
export const requireDifferentBranches = (pair: Pair): void => {
  if (pair.source_project_id !== pair.project_id || pair.source_branch !== pair.target_branch) return;
  throw unprocessable("You can't use same project/branch for source and target");
};

/** @throws Failure 409 if another open request has the same source and target */
export const requireNoDuplicate = async (db: Reader, pair: Pair, ownId = 0): Promise<void> => {
  const duplicate = await db
    .selectFrom('merge_requests')
    .select('iid')
    .where('source_project_id', '=', pair.source_project_id)
    .where('source_branch', '=', pair.source_branch)
    .where('project_id', '=', pair.project_id)
    .where('target_branch', '=', pair.target_branch)
    .where('state', '=', 'opened')
    .where('deleted_at', 'is', null)
    .where('id', '<>', ownId)
    .executeTakeFirst();
  if (duplicate === undefined) return;
  throw conflict([`Another open merge request already exists for this source branch: !${duplicate.iid}`]);
};

type Fork = Pick<Project, 'id' | 'fork_network_id' | 'forked_from_project_id'>;

const areInOneForkNetwork = (source: Fork, target: Fork): boolean =>
  source.id === target.id ||
  source.forked_from_project_id === target.id ||
  getForkNetwork(source) === getForkNetwork(target);

/** @throws Failure 422 if the projects are not in the same fork network */
export const requireFork = (source: Fork, target: Fork): void => {
  if (!areInOneForkNetwork(source, target))
    throw unprocessable('Source project is not a fork of the target project');
};

export const noMergeRequests = (): Failure => unprocessable('Target project has disabled merge requests');

export const missingBranch = (parameter: 'source_branch' | 'target_branch'): Failure =>
  invalid({ [parameter]: ['does not exist'] });

/** @throws Failure 400 if a branch does not exist */
export const requireBranches = ({ source_sha, target_sha }: Heads): void => {
  if (source_sha === null) throw missingBranch('source_branch');
  if (target_sha === null) throw missingBranch('target_branch');
};
