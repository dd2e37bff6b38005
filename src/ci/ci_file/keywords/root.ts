/** Parses the merged file: stages, variables, workflow and jobs. */
import {
  type At,
  reportFault,
  parseHash,
  inner,
  checkKeys,
  warnNotImplemented,
  rejectUnsupported,
  parseStrings,
  textAt,
} from './typed_values.ts';
import { checkJobs } from '../check_jobs.ts';
import { type StepBudget, TooExpensive } from '../expression/evaluate.ts';
import {
  needsOwnMatrix,
  expandNames,
  expandNeeds,
  findMissingNeeds,
  findMissingMatrixName,
  expandParallel,
  countNeedsSteps,
} from '../expand_jobs.ts';
import { getGlobal, listJobNames } from './globals.ts';
import { type JobDefaults, checkDefaults, parseJob } from './job.ts';
import { defaultKeys, globalDefaults, notImplementedKeys, refusedKeys } from './keys.ts';
import { type Hash, type Node, getEntry, getKeyPosition, getString } from '../syntax/node.ts';
import { parseParallel } from './parallel.ts';
import type { Config, Job, Rule, Workflow } from '../config_types.ts';
import type { Problems } from '../syntax/problems.ts';
import { parseAutoCancel, parseRules } from './rules.ts';
import { parseVariables } from './variables.ts';

const defaultStages = ['build', 'test', 'deploy'];
const defaultStage = 'test';
const maxNameLength = 255;
/** Jobs of a file, with each job of `parallel` counted. */
const maxJobs = 2000;
const maxNeeds = 500;

const parseStages = (problems: Problems, root: Hash): string[] => {
  const key =
    getEntry(root, 'stages') === undefined && getGlobal(root, 'types') !== undefined ? 'types' : 'stages';
  const declared = parseStrings(
    { where: key, problems },
    getEntry(root, key),
    'config should be an array of strings',
  );
  const own = (declared ?? defaultStages).filter((stage) => stage !== '.pre' && stage !== '.post');
  return ['.pre', ...new Set(own), '.post'];
};

export const workflowKeys = new Set(['rules', 'name', 'auto_cancel']);

const parseWorkflow = (problems: Problems, root: Hash): Workflow => {
  const at: At = { where: 'workflow', problems };
  const hash = parseHash(at, getGlobal(root, 'workflow'));
  if (hash === null) return { rules: null, name: null, auto_cancel: null };
  checkKeys(at, hash, workflowKeys);
  const name = textAt(at, hash, 'name');
  if (name !== null && name.length > maxNameLength) {
    reportFault(
      at,
      `name is too long (maximum is ${maxNameLength} characters)`,
      getKeyPosition(hash, 'name'),
    );
  }
  return {
    rules: parseRules(inner(at, 'rules'), getEntry(hash, 'rules'), 'workflow'),
    name,
    auto_cancel: parseAutoCancel(inner(at, 'auto_cancel'), getEntry(hash, 'auto_cancel')),
  };
};

export const inheritKeys = new Set(['default', 'variables']);

/** Parses `inherit`: all, none, or a list of names. */
const parseInherit = (at: At, hash: Hash, part: 'default' | 'variables'): boolean | string[] => {
  const inherit = getEntry(hash, 'inherit');
  const node = getEntry(inherit, part);
  if (node === undefined) return true;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  return parseStrings(inner(at, part), node, 'config should be a bool or an array of strings') ?? true;
};

const isInherited = (inherited: boolean | string[], key: string): boolean =>
  typeof inherited === 'boolean' ? inherited : inherited.includes(key);

/** Collects the defaults that jobs inherit, with their positions. */
const collectDefaults = (problems: Problems, root: Hash): Map<string, { node: Node; where: string }> => {
  const defaultParts = new Map<string, { node: Node; where: string }>();
  for (const key of globalDefaults) {
    const node = getEntry(root, key);
    if (node !== undefined) defaultParts.set(key, { node, where: key });
  }
  const at: At = { where: 'default', problems };
  const defaults = parseHash(at, getGlobal(root, 'default'));
  if (defaults === null) return defaultParts;
  checkKeys(at, defaults, defaultKeys);
  for (const key of refusedKeys) rejectUnsupported(at, defaults, key);
  for (const key of notImplementedKeys) warnNotImplemented(at, defaults, key);
  for (const key of defaultKeys) {
    const node = getEntry(defaults, key);
    if (node === undefined) continue;
    if (defaultParts.has(key)) {
      reportFault(
        at,
        `config ${key} is defined in top-level and \`default:\` entry`,
        getKeyPosition(defaults, key),
      );
    }
    defaultParts.set(key, { node, where: `default:${key}` });
  }
  return defaultParts;
};

const buildJobDefaults = (problems: Problems, root: Hash, workflow: Workflow): JobDefaults => {
  const shared = collectDefaults(problems, root);
  const at: At = { where: 'inherit', problems };
  return {
    stage: defaultStage,
    only:
      workflow.rules === null
        ? { refs: ['branches', 'tags'], variables: null, changes: null, kubernetes: false }
        : null,
    parsed: new Map(),
    lookUpKeyword: (hash, key) => {
      const own = getEntry(hash, key);
      const inherited = own === undefined ? shared.get(key) : undefined;
      if (inherited === undefined || !isInherited(parseInherit(at, hash, 'default'), key))
        return { node: own, where: null };
      return inherited;
    },
    inherit_variables: (hash) => parseInherit(at, hash, 'variables'),
  };
};

const checkInherit = (at: At, hash: Hash): void => {
  const node = getEntry(hash, 'inherit');
  const inherit = parseHash(inner(at, 'inherit'), node);
  if (inherit !== null) checkKeys(inner(at, 'inherit'), inherit, inheritKeys);
};

const severalPipelinesText =
  'may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules`';

/** Warns of a last rule with only `when`, which creates both branch and merge request pipelines. */
const warnSeveralPipelines = (at: At, hash: Hash): void => {
  const rules = getEntry(hash, 'rules');
  const last = rules?.kind === 'list' ? rules.items.at(-1) : undefined;
  const when = getString(getEntry(last, 'when'));
  if (last?.kind !== 'hash' || last.entries.size !== 1 || when === null || when === 'never') return;
  at.problems.warn(`${at.where} ${severalPipelinesText}`, last.position);
};

const checkName = (at: At, name: string, hash: Node): void => {
  if (name.trim() === '') at.problems.error("jobs name can't be blank", hash.position);
  if (name.length > maxNameLength) {
    reportFault(at, `name is too long (maximum is ${maxNameLength} characters)`, hash.position);
  }
};

/** Reports expanded names that are too long because they contain matrix values. */
const checkExpandedNames = (at: At, { name, position }: Job, expandedJobs: readonly Job[]): void => {
  const isLonger = expandedJobs.some((one) => one.name.length > maxNameLength);
  if (isLonger && name.length <= maxNameLength) {
    reportFault(at, `makes a name that is too long (maximum is ${maxNameLength} characters)`, position);
  }
};

const checkMatrixNeeds = ({ problems }: At, { name, position }: Job, expandedJobs: readonly Job[]): void => {
  const missing = findMissingMatrixName(expandedJobs);
  if (missing === null) return;
  problems.error(`${name} job: needs \`matrix.${missing}\`, which its own matrix has not`, position);
};

type ExpandedJob = { job: Job; expandedJobs: Job[] };

const parseJobs = (problems: Problems, root: Hash, workflow: Workflow): ExpandedJob[] => {
  const defaults = buildJobDefaults(problems, root, workflow);
  checkDefaults({ where: 'default', problems }, defaults);
  const names = listJobNames(root);
  if (names.length === 0)
    problems.error('jobs config should contain at least one visible job', root.position);
  return names.flatMap((name) => {
    const node = root.entries.get(name);
    const at = inner({ where: 'jobs', problems }, name);
    if (node?.kind !== 'hash') {
      const position = getKeyPosition(root, name);
      const text = 'config should implement the script:, run:, or trigger: keyword';
      reportFault(at, text, position, 'config should be a hash');
      return [];
    }
    checkName(at, name, node);
    checkInherit(at, node);
    if (workflow.rules === null) warnSeveralPipelines(at, node);
    const job = { ...parseJob(at, name, node, defaults), position: getKeyPosition(root, name) };
    const parallel = parseParallel(inner(at, 'parallel'), getEntry(node, 'parallel'));
    const expandedJobs = expandParallel(job, parallel);
    checkExpandedNames(inner(at, 'parallel'), job, expandedJobs);
    checkMatrixNeeds(at, job, expandedJobs);
    return [{ job, expandedJobs }];
  });
};

/** Indexes jobs by entry name and by the names that `parallel` creates. */
const indexByName = (entries: readonly ExpandedJob[]): Map<string, Job> => {
  const expandedJobs = entries.flatMap((entry) =>
    entry.expandedJobs.map(({ name }): [string, Job] => [name, entry.job]),
  );
  return new Map([...expandedJobs, ...entries.map(({ job }): [string, Job] => [job.name, job])]);
};

const linkNeeds = (problems: Problems, entries: readonly ExpandedJob[], budget: StepBudget): Job[] => {
  const groups = new Map(entries.map(({ job, expandedJobs }) => [job.name, expandedJobs]));
  const parseNeeds = (job: Job, needs: Job['needs']): Job['needs'] => {
    budget.left -= countNeedsSteps(needs ?? [], groups);
    if (budget.left < 0) throw new TooExpensive();
    for (const name of findMissingNeeds(job, needs ?? [], groups)) {
      problems.error(`${job.name} job: undefined need: ${name}`, job.position);
    }
    const expanded = needs === null ? null : expandNeeds(job, needs, groups);
    if (expanded === null || expanded.length <= maxNeeds) return expanded;
    problems.error(`${job.group} job: too many needs (maximum is ${maxNeeds})`, job.position);
    return [];
  };
  const expandJobNeeds = (job: Job): Pick<Job, 'needs' | 'rules'> => ({
    needs: parseNeeds(job, job.needs),
    rules: job.rules?.map((rule): Rule => ({ ...rule, needs: parseNeeds(job, rule.needs) })) ?? null,
  });
  return entries.flatMap(({ job, expandedJobs }) => {
    const dependencies = job.dependencies === null ? null : expandNames(job.dependencies, groups);
    // Needs are shared by the entry's jobs, unless they depend on the job's own matrix.
    const shared = needsOwnMatrix(job) ? null : expandJobNeeds(job);
    return expandedJobs.map((one): Job => ({ ...one, ...(shared ?? expandJobNeeds(one)), dependencies }));
  });
};

/**
 * @returns null if errors were reported in `problems`
 * @throws TooExpensive
 */
export const readRoot = (root: Hash, problems: Problems, budget: StepBudget): Config | null => {
  const stages = parseStages(problems, root);
  const workflow = parseWorkflow(problems, root);
  const variables = parseVariables({ where: 'variables', problems }, root.entries.get('variables'));
  const entries = parseJobs(problems, root, workflow);
  const count = entries.reduce((sum, { expandedJobs }) => sum + expandedJobs.length, 0);
  if (count > maxJobs) {
    problems.error(`The configuration makes too many jobs (maximum is ${maxJobs})`, root.position);
    return null;
  }
  checkJobs({ problems, stages, jobs: entries.map(({ job }) => job), named: indexByName(entries) });
  const jobs = linkNeeds(problems, entries, budget);
  return problems.errors.length > 0 ? null : { stages, variables, workflow, jobs };
};
