/** Decides which jobs a runner may take. Pure. */
import type { RunnerRow } from '../../runners/rules.ts';

/** Data that a machine reports when it requests a job. */
export type Machine = { system_id: string | null; cancels_gracefully: 0 | 1 };

/** A runner that requests a job. */
export type Taker = Pick<RunnerRow, 'id' | 'runner_type' | 'access_level' | 'run_untagged'> & {
  tags: ReadonlySet<string>;
  /** Longest time in seconds for one job on this runner. */
  maximum_timeout: number | null;
  /** Ids: for a project runner its projects; for a group runner the namespaces of its groups and their descendants. */
  reach: ReadonlySet<number>;
  updated_at: number;
  machine: Machine;
};

/** Facts of a project that decide which runners serve it. */
export type ProjectFacts = {
  id: number;
  namespace_id: number;
  shared_runners_enabled: 0 | 1;
  group_runners_enabled: 0 | 1;
};

/** The properties that jobs of one group share: the same runners may take them. */
export type MatchFacts = { project: ProjectFacts; protected: 0 | 1; tags: readonly string[] };

const reaches = (
  { runner_type, reach }: Pick<Taker, 'runner_type' | 'reach'>,
  project: ProjectFacts,
): boolean => {
  if (runner_type === 'instance_type') return project.shared_runners_enabled === 1;
  if (runner_type === 'group_type')
    return project.group_runners_enabled === 1 && reach.has(project.namespace_id);
  return reach.has(project.id);
};

export const canTake = (
  taker: Pick<Taker, 'runner_type' | 'reach' | 'access_level' | 'run_untagged' | 'tags'>,
  jobs: MatchFacts,
): boolean => {
  if (taker.access_level === 'ref_protected' && jobs.protected === 0) return false;
  if (jobs.tags.length === 0 && taker.run_untagged === 0) return false;
  return jobs.tags.every((tag) => taker.tags.has(tag)) && reaches(taker, jobs.project);
};
