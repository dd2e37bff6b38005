/** Decides which jobs a runner may take. Pure functions. */
import type { RunnerRow } from '../../runners/rules.ts';

/** Data that a machine reports when it requests a job. */
export type Machine = { system_id: string | null; cancels_gracefully: 0 | 1 };

/** A runner that requests a job. */
export type RequestingRunner = Pick<RunnerRow, 'id' | 'runner_type' | 'access_level' | 'run_untagged'> & {
  tags: ReadonlySet<string>;
  /** Longest time in seconds for one job on this runner. */
  maximum_timeout: number | null;
  /** Ids of what it serves: projects of a project runner; namespaces, with descendants, of a group runner. */
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

/** The properties shared by a batch of jobs that the same runners may take. */
export type JobRequirements = { project: ProjectFacts; protected: 0 | 1; tags: readonly string[] };

const serves = (
  { runner_type, reach }: Pick<RequestingRunner, 'runner_type' | 'reach'>,
  project: ProjectFacts,
): boolean => {
  if (runner_type === 'instance_type') return project.shared_runners_enabled === 1;
  if (runner_type === 'group_type')
    return project.group_runners_enabled === 1 && reach.has(project.namespace_id);
  return reach.has(project.id);
};

export const canTake = (
  taker: Pick<RequestingRunner, 'runner_type' | 'reach' | 'access_level' | 'run_untagged' | 'tags'>,
  jobs: JobRequirements,
): boolean => {
  if (taker.access_level === 'ref_protected' && jobs.protected === 0) return false;
  if (jobs.tags.length === 0 && taker.run_untagged === 0) return false;
  return jobs.tags.every((tag) => taker.tags.has(tag)) && serves(taker, jobs.project);
};
