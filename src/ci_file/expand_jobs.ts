/** One entry with `parallel` -> its jobs, and the names by which others need them. */
import type { Parallel } from './parallel.ts';
import type { Job, Need } from './plan_types.ts';

/** `job: [a, b]` */
const matrixName = (name: string, values: Record<string, string>): string =>
  `${name}: [${Object.values(values).join(', ')}]`;

/** The jobs that an entry makes, in their order. */
export const parallelJobs = (job: Job, parallel: Parallel | null): Job[] => {
  if (parallel === null) return [job];
  const { total, matrix } = parallel;
  return Array.from({ length: total }, (_, at): Job => {
    const values = matrix?.[at] ?? null;
    const own = Object.entries(values ?? {}).map(([key, value]) => ({ key, value, raw: false }));
    const others = job.variables.filter(({ key }) => values === null || !Object.hasOwn(values, key));
    return {
      ...job,
      name: values === null ? `${job.name} ${at + 1}/${total}` : matrixName(job.name, values),
      variables: [...others, ...own],
      parallel: { index: at + 1, total, matrix: values },
    };
  });
};

const isWanted = (job: Job, need: Need): boolean => {
  const values = job.parallel?.matrix;
  if (need.matrix === null) return true;
  if (values === null || values === undefined) return false;
  return need.matrix.some((entry) =>
    Object.entries(entry).every(([key, wanted]) => {
      const value = values[key];
      return value !== undefined && wanted.includes(value);
    }),
  );
};

/** Whoever needs an entry needs all of its jobs, or those of the matrix that it names. */
export const expandedNeeds = (needs: readonly Need[], groups: ReadonlyMap<string, readonly Job[]>): Need[] =>
  needs.flatMap((need) => {
    const group = groups.get(need.job);
    if (group === undefined) return [need];
    return group
      .filter((job) => isWanted(job, need))
      .map(({ name }) => ({ ...need, job: name, matrix: null }));
  });

export const expandedNames = (
  names: readonly string[],
  groups: ReadonlyMap<string, readonly Job[]>,
): string[] => names.flatMap((name) => groups.get(name)?.map((job) => job.name) ?? [name]);
