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

/** `$[[ matrix.NAME ]]`: the value that the job itself has. */
const ofMatrix = /\$\[\[\s*matrix\.(\w+)\s*\]\]/g;

/** The values of its own matrix that a job's needs name. */
const namesOfMatrix = (needs: readonly Need[]): string[] =>
  needs
    .flatMap(({ matrix }) => (matrix ?? []).flatMap((entry) => Object.values(entry).flat()))
    .flatMap((value) => [...value.matchAll(ofMatrix)].map((found) => found[1] ?? ''));

const allNeeds = ({ needs, rules }: Job): Need[] => [
  ...(needs ?? []),
  ...(rules ?? []).flatMap((rule) => rule.needs ?? []),
];

/** Whether its needs differ with the values of its own matrix. */
export const asksOfMatrix = (job: Job): boolean => namesOfMatrix(allNeeds(job)).length > 0;

/** A value that its needs name, and that one of what an entry makes has not; null: there is none. */
export const missingOfMatrix = (made: readonly Job[]): string | null => {
  const [first] = made;
  const names = first === undefined ? [] : namesOfMatrix(allNeeds(first));
  const hasNot = (name: string): boolean =>
    made.some(({ parallel }) => !Object.hasOwn(parallel?.matrix ?? {}, name));
  return names.find(hasNot) ?? null;
};

const withValues = ({ parallel }: Job, need: Need): Need => {
  const own = parallel?.matrix ?? {};
  const filled = (value: string): string =>
    value.replace(ofMatrix, (whole, name: string) => own[name] ?? whole);
  const matrix = need.matrix?.map((entry) =>
    Object.fromEntries(Object.entries(entry).map(([key, values]) => [key, values.map(filled)])),
  );
  return { ...need, matrix: matrix ?? null };
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

/** Of the jobs that a need asks for by their matrix, one that there is not; null: they are all there. */
const missingJob = (need: Need, group: readonly Job[]): string | null => {
  // What is still asked of its own matrix was told of already.
  const entries = (need.matrix ?? []).filter(
    (one) => namesOfMatrix([{ ...need, matrix: [one] }]).length === 0,
  );
  for (const entry of entries) {
    const found = group.filter((one) => isWanted(one, { ...need, matrix: [entry] }));
    for (const [key, wanted] of Object.entries(entry)) {
      const values = new Set(found.map(({ parallel }) => parallel?.matrix?.[key]));
      const missing = wanted.find((value) => !values.has(value));
      if (missing === undefined) continue;
      const named = Object.entries(entry).map(([other, [first = '']]) => [
        other,
        other === key ? missing : first,
      ]);
      return matrixName(need.job, Object.fromEntries(named));
    }
  }
  return null;
};

/** Of holding one entry of a matrix against one job, beside its values. */
const stepsOfEntry = 100;

/** What it takes to find the jobs that needs ask for by their matrix. */
export const stepsOfNeeds = (needs: readonly Need[], groups: ReadonlyMap<string, readonly Job[]>): number =>
  needs.reduce((sum, { job, matrix }) => {
    const values = (matrix ?? []).map((entry) => Object.values(entry).flat().length + stepsOfEntry);
    return sum + values.reduce((all, one) => all + one, 0) * (groups.get(job)?.length ?? 0);
  }, 0);

/** Needs that nothing answers to: whoever waits for them would wait for nothing. */
export const missingNeeds = (
  job: Job,
  needs: readonly Need[],
  groups: ReadonlyMap<string, readonly Job[]>,
): string[] =>
  needs.flatMap((need) => {
    const group = groups.get(need.job);
    const missing = group === undefined || need.optional ? null : missingJob(withValues(job, need), group);
    return missing === null ? [] : [missing];
  });

/** Whoever needs an entry needs all of its jobs, or those of the matrix that it names. */
export const expandedNeeds = (
  job: Job,
  needs: readonly Need[],
  groups: ReadonlyMap<string, readonly Job[]>,
): Need[] =>
  needs.flatMap((given) => {
    const need = withValues(job, given);
    const group = groups.get(need.job);
    if (group === undefined) return [need];
    return group
      .filter((one) => isWanted(one, need))
      .map(({ name }) => ({ ...need, job: name, matrix: null }));
  });

export const expandedNames = (
  names: readonly string[],
  groups: ReadonlyMap<string, readonly Job[]>,
): string[] => names.flatMap((name) => groups.get(name)?.map((job) => job.name) ?? [name]);
