/** The jobs that wait, as one process knows them: in groups that the same runners may take. */
import { type Alike, type ProjectFacts, type Taker, mayTake } from './matching.ts';

export type WaitingJob = {
  job_id: number;
  protected: 0 | 1;
  /** JSON array, sorted. */
  tag_list: string;
  project: ProjectFacts;
};

/** Ids in their order; those before `head` are gone. */
export type Group = Alike & { key: string; tag_list: string; ids: number[]; head: number };

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
const firstOf = ({ ids, head }: Group): number => ids[head] ?? Infinity;

export class Waiting {
  readonly #groups = new Map<string, Group>();
  readonly #projects = new Map<number, ProjectFacts>();
  /** In a group, or in somebody's hands. */
  readonly #known = new Set<number>();
  readonly #runningOf: (project_id: number) => number;

  /** @param runningOf how many jobs of a project run on runners that all share: who has fewest of them is next */
  constructor(runningOf: (project_id: number) => number) {
    this.#runningOf = runningOf;
  }

  get projects(): number {
    return this.#projects.size;
  }

  /** Those that are in nobody's hands. */
  get ids(): number[] {
    return [...this.#groups.values()].flatMap(({ ids, head }) => ids.slice(head));
  }

  /** Adds what is not known yet; answers the groups that have more than before. */
  add(jobs: readonly WaitingJob[]): Group[] {
    const grown = new Set<Group>();
    for (const job of jobs) {
      const kept = this.#projects.get(job.project.id);
      if (kept !== undefined) Object.assign(kept, job.project);
      if (this.#known.has(job.job_id)) continue;
      this.#known.add(job.job_id);
      const group = this.#groupOf(job);
      insertInOrder(group, job.job_id);
      grown.add(group);
    }
    if (this.#projects.size > 2 * this.#groups.size + 100) this.#dropEmpty();
    return [...grown];
  }

  /** Takes the job out whose turn it is with this runner, of these groups; null: none is for it. */
  take(taker: Taker, among: Iterable<Group> = this.#groups.values()): WaitingJob | null {
    let best: Group | null = null;
    for (const group of among) {
      if (isEmpty(group) || !mayTake(taker, group)) continue;
      if (best === null || this.#isBefore(taker, group, best)) best = group;
    }
    if (best === null) return null;
    const job = shift(best);
    if (isEmpty(best)) this.#groups.delete(best.key);
    return job;
  }

  /** It is in nobody's hands any more: it may be added again. */
  forget(job_id: number): void {
    this.#known.delete(job_id);
  }

  /** Takes these out, as far as they are in nobody's hands. */
  drop(gone: ReadonlySet<number>): void {
    for (const group of this.#groups.values()) {
      const all = group.ids.slice(group.head);
      group.ids = all.filter((id) => !gone.has(id));
      group.head = 0;
      for (const id of all) if (gone.has(id)) this.#known.delete(id);
    }
    this.#dropEmpty();
  }

  #groupOf({ project, protected: isProtected, tag_list }: WaitingJob): Group {
    const key = `${project.id} ${isProtected} ${tag_list}`;
    const found = this.#groups.get(key);
    if (found !== undefined) return found;
    const tags = JSON.parse(tag_list) as string[];
    const shared = this.#projects.get(project.id) ?? { ...project };
    this.#projects.set(project.id, shared);
    const made: Group = { key, project: shared, protected: isProtected, tag_list, tags, ids: [], head: 0 };
    this.#groups.set(key, made);
    return made;
  }

  #isBefore(taker: Taker, a: Group, b: Group): boolean {
    if (taker.runner_type === 'instance_type' && a.project.id !== b.project.id) {
      const more = this.#runningOf(a.project.id) - this.#runningOf(b.project.id);
      if (more !== 0) return more < 0;
    }
    return firstOf(a) < firstOf(b);
  }

  #dropEmpty(): void {
    for (const [key, group] of this.#groups) if (isEmpty(group)) this.#groups.delete(key);
    const left = new Set([...this.#groups.values()].map(({ project }) => project.id));
    for (const id of this.#projects.keys()) if (!left.has(id)) this.#projects.delete(id);
  }
}
