/** Pending jobs in the memory of one process, grouped by the runners that may take them. */
import { type JobRequirements, type ProjectFacts, type RequestingRunner, canTake } from './match_runners.ts';

export type WaitingJob = {
  job_id: number;
  protected: 0 | 1;
  /** JSON array, sorted. */
  tag_list: string;
  project: ProjectFacts;
};

/** Ids in order; entries before `head` are removed. */
export type Group = JobRequirements & { key: string; tag_list: string; ids: number[]; head: number };

const insertInOrder = (group: Group, id: number): void => {
  const { ids } = group;
  if (id > (ids.at(-1) ?? -1)) {
    ids.push(id);
    return;
  }
  let at = ids.length;
  while (at > group.head && (ids[at - 1] ?? 0) > id) at -= 1;
  ids.splice(at, 0, id);
};

const shift = (group: Group): WaitingJob => {
  const { project, protected: isProtected, tag_list } = group;
  const job_id = group.ids[group.head] ?? 0;
  group.head += 1;
  if (group.head > 1_000 && group.head * 2 > group.ids.length) {
    group.ids.splice(0, group.head);
    group.head = 0;
  }
  return { job_id, project, protected: isProtected, tag_list };
};

const isEmpty = ({ ids, head }: Group): boolean => head >= ids.length;
const getFirst = ({ ids, head }: Group): number => ids[head] ?? Infinity;

export class WaitingJobs {
  readonly #groups = new Map<string, Group>();
  readonly #projects = new Map<number, ProjectFacts>();
  /** Ids in a group, or being claimed. */
  readonly #tracked = new Set<number>();
  readonly #runningOf: (project_id: number) => number;

  /**
   * @param runningOf counts the running jobs of a project on instance runners; the project with the fewest goes first
   */
  constructor(runningOf: (project_id: number) => number) {
    this.#runningOf = runningOf;
  }

  get projects(): number {
    return this.#projects.size;
  }

  /** Ids that are not being claimed. */
  get ids(): number[] {
    return [...this.#groups.values()].flatMap(({ ids, head }) => ids.slice(head));
  }

  /** Adds jobs that are new here. Returns the groups that have grown. */
  add(jobs: readonly WaitingJob[]): Group[] {
    const grownGroups = new Set<Group>();
    for (const job of jobs) {
      const kept = this.#projects.get(job.project.id);
      if (kept !== undefined) Object.assign(kept, job.project);
      if (this.#tracked.has(job.job_id)) continue;
      this.#tracked.add(job.job_id);
      const group = this.#groupOf(job);
      insertInOrder(group, job.job_id);
      grownGroups.add(group);
    }
    if (this.#projects.size > 2 * this.#groups.size + 100) this.#dropEmpty();
    return [...grownGroups];
  }

  /** Removes and returns the next job for this runner from these groups; null: none. */
  take(taker: RequestingRunner, among: Iterable<Group> = this.#groups.values()): WaitingJob | null {
    let best: Group | null = null;
    for (const group of among) {
      if (isEmpty(group) || !canTake(taker, group)) continue;
      if (best === null || this.#isBefore(taker, group, best)) best = group;
    }
    if (best === null) return null;
    const job = shift(best);
    if (isEmpty(best)) this.#groups.delete(best.key);
    return job;
  }

  /** Ends the claim on a job, so that it may be added again. */
  forget(job_id: number): void {
    this.#tracked.delete(job_id);
  }

  /** Removes jobs that are not being claimed. */
  drop(gone: ReadonlySet<number>): void {
    for (const group of this.#groups.values()) {
      const waiting = group.ids.slice(group.head);
      group.ids = waiting.filter((id) => !gone.has(id));
      group.head = 0;
      for (const id of waiting) if (gone.has(id)) this.#tracked.delete(id);
    }
    this.#dropEmpty();
  }

  #groupOf({ project, protected: isProtected, tag_list }: WaitingJob): Group {
    const key = `${project.id} ${isProtected} ${tag_list}`;
    const existing = this.#groups.get(key);
    if (existing !== undefined) return existing;
    const tags = JSON.parse(tag_list) as string[];
    const shared = this.#projects.get(project.id) ?? { ...project };
    this.#projects.set(project.id, shared);
    const added: Group = { key, project: shared, protected: isProtected, tag_list, tags, ids: [], head: 0 };
    this.#groups.set(key, added);
    return added;
  }

  #isBefore(taker: RequestingRunner, a: Group, b: Group): boolean {
    if (taker.runner_type === 'instance_type' && a.project.id !== b.project.id) {
      const more = this.#runningOf(a.project.id) - this.#runningOf(b.project.id);
      if (more !== 0) return more < 0;
    }
    return getFirst(a) < getFirst(b);
  }

  #dropEmpty(): void {
    for (const [key, group] of this.#groups) if (isEmpty(group)) this.#groups.delete(key);
    const projectIds = new Set([...this.#groups.values()].map(({ project }) => project.id));
    for (const id of this.#projects.keys()) if (!projectIds.has(id)) this.#projects.delete(id);
  }
}
