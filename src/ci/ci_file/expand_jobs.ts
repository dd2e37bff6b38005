/** Expands an entry with `parallel` to its jobs, and the needs that refer to them. */
import type { Parallel } from './keywords/parallel.ts';
import type { Job, Need } from './config_types.ts';

/** `job: [a, b]` */
const matrixName = (name: string, values: Record<string, string>): string =>
  `${name}: [${Object.values(values).join(', ')}]`;

/** Returns the jobs of an entry, in order. */
export const expandParallel = (job: Job, parallel: Parallel | null): Job[] => {
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

/** `$[[ matrix.NAME ]]`: the value in the job's own matrix. */
const matrixReference = /\$\[\[\s*matrix\.(\w+)\s*\]\]/g;

/** Lists the names of the job's own matrix that its needs refer to. */
const listMatrixNames = (needs: readonly Need[]): string[] =>
  needs
    .flatMap(({ matrix }) => (matrix ?? []).flatMap((entry) => Object.values(entry).flat()))
    .flatMap((value) => [...value.matchAll(matrixReference)].map((match) => match[1] ?? ''));

const listAllNeeds = ({ needs, rules }: Job): Need[] => [
  ...(needs ?? []),
  ...(rules ?? []).flatMap((rule) => rule.needs ?? []),
];

/** Returns whether the job's needs depend on the values of its own matrix. */
export const needsOwnMatrix = (job: Job): boolean => listMatrixNames(listAllNeeds(job)).length > 0;

/** Finds a matrix name that needs refer to and one of the entry's jobs lacks; null if there is none. */
export const findMissingMatrixName = (jobs: readonly Job[]): string | null => {
  const [first] = jobs;
  const names = first === undefined ? [] : listMatrixNames(listAllNeeds(first));
  const lacksName = (name: string): boolean =>
    jobs.some(({ parallel }) => !Object.hasOwn(parallel?.matrix ?? {}, name));
  return names.find(lacksName) ?? null;
};

const fillMatrixValues = ({ parallel }: Job, need: Need): Need => {
  const own = parallel?.matrix ?? {};
  const fill = (value: string): string =>
    value.replace(matrixReference, (whole, name: string) => own[name] ?? whole);
  const matrix = need.matrix?.map((entry) =>
    Object.fromEntries(Object.entries(entry).map(([key, values]) => [key, values.map(fill)])),
  );
  return { ...need, matrix: matrix ?? null };
};

const matchesNeed = (job: Job, need: Need): boolean => {
  const values = job.parallel?.matrix;
  if (need.matrix === null) return true;
  if (values === null || values === undefined) return false;
  return need.matrix.some((entry) =>
    Object.entries(entry).every(([key, names]) => {
      const value = values[key];
      return value !== undefined && names.includes(value);
    }),
  );
};

/** Finds a job that a need selects by matrix and that does not exist; null if all exist. */
const findMissingJob = (need: Need, group: readonly Job[]): string | null => {
  // Unresolved references to the job's own matrix were already reported.
  const entries = (need.matrix ?? []).filter(
    (one) => listMatrixNames([{ ...need, matrix: [one] }]).length === 0,
  );
  for (const entry of entries) {
    const matches = group.filter((one) => matchesNeed(one, { ...need, matrix: [entry] }));
    for (const [key, requested] of Object.entries(entry)) {
      const values = new Set(matches.map(({ parallel }) => parallel?.matrix?.[key]));
      const missing = requested.find((value) => !values.has(value));
      if (missing === undefined) continue;
      const example = Object.entries(entry).map(([other, [first = '']]) => [
        other,
        other === key ? missing : first,
      ]);
      return matrixName(need.job, Object.fromEntries(example));
    }
  }
  return null;
};

/** Steps of comparing one matrix entry with one job, in addition to its values. */
const stepsPerEntry = 100;

/** Counts the steps to find the jobs that needs select by matrix. */
export const countNeedsSteps = (
  needs: readonly Need[],
  groups: ReadonlyMap<string, readonly Job[]>,
): number =>
  needs.reduce((sum, { job, matrix }) => {
    const values = (matrix ?? []).map((entry) => Object.values(entry).flat().length + stepsPerEntry);
    return sum + values.reduce((all, one) => all + one, 0) * (groups.get(job)?.length ?? 0);
  }, 0);

/** Lists the names of needed jobs that do not exist. */
export const findMissingNeeds = (
  job: Job,
  needs: readonly Need[],
  groups: ReadonlyMap<string, readonly Job[]>,
): string[] =>
  needs.flatMap((need) => {
    const group = groups.get(need.job);
    const missing =
      group === undefined || need.optional ? null : findMissingJob(fillMatrixValues(job, need), group);
    return missing === null ? [] : [missing];
  });

/** Replaces a need for an entry by needs for all of its jobs, or for the jobs that its matrix selects. */
export const expandNeeds = (
  job: Job,
  needs: readonly Need[],
  groups: ReadonlyMap<string, readonly Job[]>,
): Need[] =>
  needs.flatMap((declared) => {
    const need = fillMatrixValues(job, declared);
    const group = groups.get(need.job);
    if (group === undefined) return [need];
    return group
      .filter((one) => matchesNeed(one, need))
      .map(({ name }) => ({ ...need, job: name, matrix: null }));
  });

export const expandNames = (
  names: readonly string[],
  groups: ReadonlyMap<string, readonly Job[]>,
): string[] => names.flatMap((name) => groups.get(name)?.map((job) => job.name) ?? [name]);
