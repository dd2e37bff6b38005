/** The whole file, put together, -> what it says: stages, variables, workflow and jobs. */
import {
  type At,
  fault,
  hashOf,
  inner,
  knowsKeys,
  notCarriedOut,
  notSupported,
  stringsOf,
  textAt,
} from './check.ts';
import { checkJobs } from './check_jobs.ts';
import { type Effort, TooExpensive } from './expression/evaluate.ts';
import {
  asksOfMatrix,
  expandedNames,
  expandedNeeds,
  missingNeeds,
  missingOfMatrix,
  parallelJobs,
  stepsOfNeeds,
} from './expand_jobs.ts';
import { globalOf, jobNamesOf } from './globals.ts';
import { type JobDefaults, checkDefaults, jobOf } from './job.ts';
import { defaultKeys, globalDefaults, keptOnly, refusedKeys } from './keys.ts';
import { type Hash, type Node, entryOf, keyPlace, stringOf } from './node.ts';
import { parallelOf } from './parallel.ts';
import type { Config, Job, Rule, Workflow } from './plan_types.ts';
import type { Problems } from './problem.ts';
import { autoCancelOf, rulesOf } from './rules.ts';
import { variablesOf } from './variables.ts';

const usualStages = ['build', 'test', 'deploy'];
const usualStage = 'test';
const longestName = 255;
/** Of a file, those of `parallel` one by one. */
const mostJobs = 2000;
const mostNeeds = 500;

const stagesOf = (problems: Problems, root: Hash): string[] => {
  const key =
    entryOf(root, 'stages') === undefined && globalOf(root, 'types') !== undefined ? 'types' : 'stages';
  const given = stringsOf(
    { where: key, problems },
    entryOf(root, key),
    'config should be an array of strings',
  );
  const own = (given ?? usualStages).filter((stage) => stage !== '.pre' && stage !== '.post');
  return ['.pre', ...new Set(own), '.post'];
};

const workflowKeys = new Set(['rules', 'name', 'auto_cancel']);

const workflowOf = (problems: Problems, root: Hash): Workflow => {
  const at: At = { where: 'workflow', problems };
  const hash = hashOf(at, globalOf(root, 'workflow'));
  if (hash === null) return { rules: null, name: null, auto_cancel: null };
  knowsKeys(at, hash, workflowKeys);
  const name = textAt(at, hash, 'name');
  if (name !== null && name.length > longestName) {
    fault(at, `name is too long (maximum is ${longestName} characters)`, keyPlace(hash, 'name'));
  }
  return {
    rules: rulesOf(inner(at, 'rules'), entryOf(hash, 'rules'), 'workflow'),
    name,
    auto_cancel: autoCancelOf(inner(at, 'auto_cancel'), entryOf(hash, 'auto_cancel')),
  };
};

const inheritKeys = new Set(['default', 'variables']);

/** All of it, nothing, or these. */
const inheritedOf = (at: At, hash: Hash, part: 'default' | 'variables'): boolean | string[] => {
  const inherit = entryOf(hash, 'inherit');
  const node = entryOf(inherit, part);
  if (node === undefined) return true;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  return stringsOf(inner(at, part), node, 'config should be a bool or an array of strings') ?? true;
};

const isTaken = (inherited: boolean | string[], key: string): boolean =>
  typeof inherited === 'boolean' ? inherited : inherited.includes(key);

/** What the jobs take over, and where it stands. */
const inheritable = (problems: Problems, root: Hash): Map<string, { node: Node; where: string }> => {
  const found = new Map<string, { node: Node; where: string }>();
  for (const key of globalDefaults) {
    const node = entryOf(root, key);
    if (node !== undefined) found.set(key, { node, where: key });
  }
  const at: At = { where: 'default', problems };
  const defaults = hashOf(at, globalOf(root, 'default'));
  if (defaults === null) return found;
  knowsKeys(at, defaults, defaultKeys);
  for (const key of refusedKeys) notSupported(at, defaults, key);
  for (const key of keptOnly) notCarriedOut(at, defaults, key);
  for (const key of defaultKeys) {
    const node = entryOf(defaults, key);
    if (node === undefined) continue;
    if (found.has(key)) {
      fault(at, `config ${key} is defined in top-level and \`default:\` entry`, keyPlace(defaults, key));
    }
    found.set(key, { node, where: `default:${key}` });
  }
  return found;
};

const defaultsOf = (problems: Problems, root: Hash, workflow: Workflow): JobDefaults => {
  const shared = inheritable(problems, root);
  const at: At = { where: 'inherit', problems };
  return {
    stage: usualStage,
    only:
      workflow.rules === null
        ? { refs: ['branches', 'tags'], variables: null, changes: null, kubernetes: false }
        : null,
    read: new Map(),
    part: (hash, key) => {
      const own = entryOf(hash, key);
      const taken = own === undefined ? shared.get(key) : undefined;
      if (taken === undefined || !isTaken(inheritedOf(at, hash, 'default'), key))
        return { node: own, where: null };
      return taken;
    },
    inherit_variables: (hash) => inheritedOf(at, hash, 'variables'),
  };
};

const checkInherit = (at: At, hash: Hash): void => {
  const node = entryOf(hash, 'inherit');
  const inherit = hashOf(inner(at, 'inherit'), node);
  if (inherit !== null) knowsKeys(inner(at, 'inherit'), inherit, inheritKeys);
};

const several =
  'may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules`';

/** A last rule that says nothing but `when` makes a pipeline of everything, branch and merge request alike. */
const warnOfSeveral = (at: At, hash: Hash): void => {
  const rules = entryOf(hash, 'rules');
  const last = rules?.kind === 'list' ? rules.items.at(-1) : undefined;
  const when = stringOf(entryOf(last, 'when'));
  if (last?.kind !== 'hash' || last.entries.size !== 1 || when === null || when === 'never') return;
  at.problems.warn(`${at.where} ${several}`, last.place);
};

const checkName = (at: At, name: string, hash: Node): void => {
  if (name.trim() === '') at.problems.error("jobs name can't be blank", hash.place);
  if (name.length > longestName) {
    fault(at, `name is too long (maximum is ${longestName} characters)`, hash.place);
  }
};

/** A name that was short is no more with the values of a matrix in it. */
const checkMade = (at: At, { name, place }: Job, made: readonly Job[]): void => {
  const isLonger = made.some((one) => one.name.length > longestName);
  if (isLonger && name.length <= longestName) {
    fault(at, `makes a name that is too long (maximum is ${longestName} characters)`, place);
  }
};

const checkOfMatrix = ({ problems }: At, { name, place }: Job, made: readonly Job[]): void => {
  const missing = missingOfMatrix(made);
  if (missing === null) return;
  problems.error(`${name} job: needs \`matrix.${missing}\`, which its own matrix has not`, place);
};

type Entry = { job: Job; made: Job[] };

const entriesOf = (problems: Problems, root: Hash, workflow: Workflow): Entry[] => {
  const defaults = defaultsOf(problems, root, workflow);
  checkDefaults({ where: 'default', problems }, defaults);
  const names = jobNamesOf(root);
  if (names.length === 0) problems.error('jobs config should contain at least one visible job', root.place);
  return names.flatMap((name) => {
    const node = root.entries.get(name);
    const at = inner({ where: 'jobs', problems }, name);
    if (node?.kind !== 'hash') {
      const place = keyPlace(root, name);
      const text = 'config should implement the script:, run:, or trigger: keyword';
      fault(at, text, place, 'config should be a hash');
      return [];
    }
    checkName(at, name, node);
    checkInherit(at, node);
    if (workflow.rules === null) warnOfSeveral(at, node);
    const job = { ...jobOf(at, name, node, defaults), place: keyPlace(root, name) };
    const parallel = parallelOf(inner(at, 'parallel'), entryOf(node, 'parallel'));
    const made = parallelJobs(job, parallel);
    checkMade(inner(at, 'parallel'), job, made);
    checkOfMatrix(at, job, made);
    return [{ job, made }];
  });
};

/** What others may name: an entry, or one of those that `parallel` makes of it. */
const byName = (entries: readonly Entry[]): Map<string, Job> => {
  const made = entries.flatMap((entry) => entry.made.map(({ name }): [string, Job] => [name, entry.job]));
  return new Map([...made, ...entries.map(({ job }): [string, Job] => [job.name, job])]);
};

const linked = (problems: Problems, entries: readonly Entry[], effort: Effort): Job[] => {
  const groups = new Map(entries.map(({ job, made }) => [job.name, made]));
  const needsOf = (job: Job, needs: Job['needs']): Job['needs'] => {
    effort.left -= stepsOfNeeds(needs ?? [], groups);
    if (effort.left < 0) throw new TooExpensive();
    for (const name of missingNeeds(job, needs ?? [], groups)) {
      problems.error(`${job.name} job: undefined need: ${name}`, job.place);
    }
    const expanded = needs === null ? null : expandedNeeds(job, needs, groups);
    if (expanded === null || expanded.length <= mostNeeds) return expanded;
    problems.error(`${job.group} job: too many needs (maximum is ${mostNeeds})`, job.place);
    return [];
  };
  const linkedOf = (job: Job): Pick<Job, 'needs' | 'rules'> => ({
    needs: needsOf(job, job.needs),
    rules: job.rules?.map((rule): Rule => ({ ...rule, needs: needsOf(job, rule.needs) })) ?? null,
  });
  return entries.flatMap(({ job, made }) => {
    const dependencies = job.dependencies === null ? null : expandedNames(job.dependencies, groups);
    // What asks for values of its own matrix is another for each of them; else it is shared.
    const shared = asksOfMatrix(job) ? null : linkedOf(job);
    return made.map((one): Job => ({ ...one, ...(shared ?? linkedOf(one)), dependencies }));
  });
};

/**
 * @returns null: told in `problems`
 * @throws TooExpensive
 */
export const readRoot = (root: Hash, problems: Problems, effort: Effort): Config | null => {
  const stages = stagesOf(problems, root);
  const workflow = workflowOf(problems, root);
  const variables = variablesOf({ where: 'variables', problems }, root.entries.get('variables'));
  const entries = entriesOf(problems, root, workflow);
  const count = entries.reduce((sum, { made }) => sum + made.length, 0);
  if (count > mostJobs) {
    problems.error(`The configuration makes too many jobs (maximum is ${mostJobs})`, root.place);
    return null;
  }
  checkJobs({ problems, stages, jobs: entries.map(({ job }) => job), named: byName(entries) });
  const jobs = linked(problems, entries, effort);
  return problems.errors.length > 0 ? null : { stages, variables, workflow, jobs };
};
