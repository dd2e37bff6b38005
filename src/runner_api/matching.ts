/** Which jobs a runner may take. Pure. */
import type { RunnerRow } from '../runners/rules.ts';

/** What a machine says of itself when it asks for a job. */
export type Machine = { system_id: string | null; cancels_gracefully: 0 | 1 };

/** A runner that asks. */
export type Taker = Pick<RunnerRow, 'id' | 'runner_type' | 'access_level' | 'run_untagged'> & {
  tags: ReadonlySet<string>;
  /** Seconds that a job may run on it. */
  maximum_timeout: number | null;
  /** Ids: of a project runner, its projects; of a group runner, the namespaces of its groups and of those below. */
  reach: ReadonlySet<number>;
  updated_at: number;
  machine: Machine;
};

/** What a project says of runners. */
export type ProjectFacts = { id: number; namespace_id: number; shared_runners_enabled: 0 | 1 };

/** Jobs that the same runners may take. */
export type Alike = { project: ProjectFacts; protected: 0 | 1; tags: readonly string[] };

const reaches = (
  { runner_type, reach }: Pick<Taker, 'runner_type' | 'reach'>,
  project: ProjectFacts,
): boolean => {
  if (runner_type === 'instance_type') return project.shared_runners_enabled === 1;
  return reach.has(runner_type === 'group_type' ? project.namespace_id : project.id);
};

export const mayTake = (
  taker: Pick<Taker, 'runner_type' | 'reach' | 'access_level' | 'run_untagged' | 'tags'>,
  jobs: Alike,
): boolean => {
  if (taker.access_level === 'ref_protected' && jobs.protected === 0) return false;
  if (jobs.tags.length === 0 && taker.run_untagged === 0) return false;
  return jobs.tags.every((tag) => taker.tags.has(tag)) && reaches(taker, jobs.project);
};
