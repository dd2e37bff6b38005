/** Which branches a merge request may bring together: the failures of create and update, in the order of their checks. */
import type { Reader } from '../db/open.ts';
import { Failure, conflict, invalid } from '../errors.ts';
import type { Project } from '../projects/find.ts';
import { networkOf } from '../repository/fork_relation.ts';
import type { Heads } from './heads.ts';

export type Pair = {
  source_project_id: number | null;
  source_branch: string;
  /** The target project. */
  project_id: number;
  target_branch: string;
};

const unprocessable = (text: string): Failure => new Failure('unprocessable', { message: [text] });

/** @throws Failure 422 for a branch that would be merged into itself */
export const requireDifferent = (pair: Pair): void => {
  if (pair.source_project_id !== pair.project_id || pair.source_branch !== pair.target_branch) return;
  throw unprocessable("You can't use same project/branch for source and target");
};

/** @throws Failure 409 where another open one brings the same together */
export const requireNoOther = async (db: Reader, pair: Pair, ownId = 0): Promise<void> => {
  const other = await db
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
  if (other === undefined) return;
  throw conflict([`Another open merge request already exists for this source branch: !${other.iid}`]);
};

type Fork = Pick<Project, 'id' | 'fork_network_id' | 'forked_from_project_id'>;

const isRelated = (source: Fork, target: Fork): boolean =>
  source.id === target.id ||
  source.forked_from_project_id === target.id ||
  networkOf(source) === networkOf(target);

/** @throws Failure 422 for projects of which neither was forked from the other, nor both from a third */
export const requireFork = (source: Fork, target: Fork): void => {
  if (!isRelated(source, target)) throw unprocessable('Source project is not a fork of the target project');
};

export const noMergeRequests = (): Failure => unprocessable('Target project has disabled merge requests');

/** @throws Failure 400 for a branch that is not there */
export const requireBranches = ({ source_sha, target_sha }: Heads): void => {
  if (source_sha === null) throw invalid({ source_branch: ['does not exist'] });
  if (target_sha === null) throw invalid({ target_branch: ['does not exist'] });
};
