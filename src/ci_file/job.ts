/** One entry of the file that is a job. */
import {
  type At,
  booleanOf,
  durationAt,
  durationOf,
  fault,
  hashOf,
  inner,
  knowsKeys,
  oneOfAt,
  scriptOf,
  stringsOf,
  textAt,
  notCarriedOut,
  notSupported,
} from './check.ts';
import { artifactsOf } from './artifacts.ts';
import { cachesOf } from './cache.ts';
import { secondsOf } from './duration.ts';
import { environmentOf } from './environment.ts';
import { imageOf, servicesOf } from './image.ts';
import { bridgeKeys, keptOnly, jobKeys, refusedKeys } from './keys.ts';
import { type Hash, type Node, entryOf, hashNode, keyPlace, plainOf, stringOf } from './node.ts';
import { needsOf } from './needs.ts';
import { splitPattern, compilePattern } from './pattern.ts';
import type { Job, Policy } from './plan_types.ts';
import { policyOf } from './policy.ts';
import { releaseOf } from './release.ts';
import { allowFailureOf, retryOf } from './retry.ts';
import { rulesOf } from './rules.ts';
import { triggerOf, withoutRun } from './trigger.ts';
import { variablesOf } from './variables.ts';

export type JobDefaults = {
  stage: string;
  /** Of a file whose workflow has no rules. */
  only: Policy | null;
  /** A job's part, its own or what it takes of `default`; `where` it stands then. */
  part: (hash: Hash, key: string) => Part;
  /** What was read of `default`: the same for all. */
  read: Map<string, unknown>;
  inherit_variables: (hash: Hash) => boolean | string[];
};

type Part = { node: Node | undefined; where: string | null };

/** Reads a part; what all jobs share is read once. */
const readPart = <T>(
  { at, hash, defaults }: { at: At; hash: Hash; defaults: JobDefaults },
  key: string,
  read: (at: At, node: Node | undefined) => T,
): T => {
  const { node, where } = defaults.part(hash, key);
  if (where === null) return read(inner(at, key), node);
  const known = defaults.read.get(key);
  if (known !== undefined) return known as T;
  const value = read({ where, problems: at.problems }, node);
  defaults.read.set(key, value);
  return value;
};

const whens = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const;
const oldWhen = 'should be on_success, on_failure, always or manual';
const longestWait = 7 * 86_400;
const longestTimeout = 30 * 86_400;
const oldList = 'config should be an array of strings';
const notDelayed = 'when should be one of: on_success, on_failure, always, manual';
const notARun = 'config should implement the script:, run:, or trigger: keyword';
const notABridge = 'config should contain either a trigger or a needs:pipeline';

const scriptsOf = (at: At, hash: Hash, defaults: JobDefaults) => {
  const read = (key: string, old: string): string[] =>
    readPart({ at, hash, defaults }, key, (where, node) => scriptOf(where, node, old) ?? []);
  return {
    script: read('script', 'config should be a string or an array of strings'),
    before_script: read('before_script', oldList),
    after_script: read('after_script', oldList),
  };
};

const rulesWithOthers = (at: At, hash: Hash): void => {
  if (entryOf(hash, 'rules') === undefined) return;
  const others = ['only', 'except', 'start_in'].filter((key) => entryOf(hash, key) !== undefined);
  const [first] = others;
  if (first === undefined) return;
  fault(at, `config key may not be used with \`rules\`: ${others.join(', ')}`, keyPlace(hash, first));
};

const coverageOf = (at: At, hash: Hash): string | null => {
  const node = entryOf(hash, 'coverage');
  const text = stringOf(node);
  const parts = text === null ? null : splitPattern(text);
  if (node === undefined) return null;
  if (parts !== null && compilePattern(parts.source, parts.flags) !== null) return text;
  fault(inner(at, 'coverage'), 'config must be a regular expression', node.place);
  return null;
};

const startOf = (at: At, hash: Hash, when: Job['when']): string | null => {
  if (entryOf(hash, 'rules') !== undefined) return null;
  const start_in = durationAt(at, hash, 'start_in', longestWait);
  if (when === 'delayed' && !hash.entries.has('start_in')) {
    fault(at, 'start in should be a duration', keyPlace(hash, 'when'));
  } else if (when !== 'delayed' && start_in !== null) {
    fault(at, 'start in must be blank', keyPlace(hash, 'start_in'));
  }
  return start_in;
};

const timeoutOf = (at: At, node: Node | undefined): number | null => {
  const outer = { ...at, where: at.where.replace(/:?timeout$/, '') };
  const text = durationOf(outer, 'timeout', node, longestTimeout);
  return text === null ? null : secondsOf(text);
};

const dependenciesOf = (at: At, hash: Hash): string[] | null => {
  const node = entryOf(hash, 'dependencies');
  return stringsOf(at, node, 'dependencies should be an array of strings');
};

/** What a job is when: its own words, or those that follow of it. */
const whenOf = (at: At, hash: Hash) => {
  const when = oneOfAt(at, hash, 'when', { words: whens, old: oldWhen }) ?? 'on_success';
  const failure = allowFailureOf(inner(at, 'allow_failure'), entryOf(hash, 'allow_failure'));
  return {
    when,
    start_in: startOf(at, hash, when),
    allow_failure: failure?.allow_failure ?? when === 'manual',
    allow_failure_exit_codes: failure?.exit_codes ?? [],
  };
};

const policiesOf = (at: At, hash: Hash, defaults: JobDefaults) => {
  const rules = rulesOf(inner(at, 'rules'), entryOf(hash, 'rules'), 'job');
  const only = policyOf(inner(at, 'only'), entryOf(hash, 'only'));
  const except = policyOf(inner(at, 'except'), entryOf(hash, 'except'));
  const usual = rules === null ? defaults.only : null;
  return { rules, only: only === null ? usual : { ...only, refs: only.refs ?? usual?.refs ?? null }, except };
};

/** Who runs takes artifacts of other pipelines; who does not may go as one of them does. */
const needsOfJob = (at: At, hash: Hash, isBridge: boolean) => {
  const node = entryOf(hash, 'needs');
  if (node === undefined) return null;
  const found = needsOf(inner(at, 'needs'), node, isBridge ? ['job', 'bridge'] : ['job', 'cross_dependency']);
  if (found.mirrors === null || entryOf(hash, 'trigger') === undefined) return found;
  at.problems.warn(`${at.where}:needs of a pipeline is not carried out beside a trigger`, node.place);
  return { ...found, mirrors: null };
};

const needsAndDependencies = (at: At, hash: Hash, isBridge: boolean) => {
  const found = needsOfJob(at, hash, isBridge);
  const mirrors = found?.mirrors ?? null;
  const dependencies = dependenciesOf(at, hash);
  const needed = new Set(found?.needs.map(({ job }) => job));
  const missing = found === null ? [] : (dependencies ?? []).filter((job) => !needed.has(job));
  if (missing.length > 0) {
    const text = `dependencies the ${missing.join(', ')} should be part of needs`;
    fault(at, text, keyPlace(hash, 'dependencies'));
  }
  // What is like another pipeline waits for its stage.
  const needs = mirrors === null ? (found?.needs ?? null) : null;
  return { needs, cross_needs: found?.cross_needs ?? [], mirrors, dependencies };
};

const isNo = (node: Node | undefined): boolean => node?.kind === 'scalar' && node.value === false;

/** A job makes a site by its name or by its keyword, unless it says that it makes none. */
const sayNoPages = (at: At, name: string, hash: Hash): void => {
  const pages = entryOf(hash, 'pages');
  if (pages === undefined && name === 'pages' && entryOf(hash, 'trigger') === undefined) {
    at.problems.warn(`${at.where} is a job as any other: no site is made of what it leaves`, hash.place);
  }
  if (!isNo(pages)) notCarriedOut(at, hash, 'pages');
};

const sayWhatIsNotDone = (at: At, name: string, hash: Hash): void => {
  for (const key of refusedKeys) notSupported(at, hash, key);
  for (const key of keptOnly) notCarriedOut(at, hash, key);
  sayNoPages(at, name, hash);
};

const strings = (at: At, node: Node | undefined): string[] => stringsOf(at, node, oldList) ?? [];

const partsOf = (at: At, hash: Hash, defaults: JobDefaults) => {
  const of = <T>(key: string, read: (at: At, node: Node | undefined) => T): T =>
    readPart({ at, hash, defaults }, key, read);
  return {
    image: of('image', imageOf),
    services: of('services', servicesOf),
    tags: of('tags', strings),
    artifacts: of('artifacts', artifactsOf),
    cache: of('cache', cachesOf),
    retry: of('retry', retryOf),
    timeout: of('timeout', timeoutOf),
    interruptible: of('interruptible', (_, node) => booleanOf(at, 'interruptible', node)),
    id_tokens: of('id_tokens', (_, node) => plainAt(node)),
    pre_get_sources_script: of('hooks', hookOf),
  };
};

const plainAt = (node: Node | undefined): unknown => (node === undefined ? null : plainOf(node));

const secretsAt = (at: At, node: Node | undefined): unknown => {
  const asked = hashOf(inner(at, 'secrets'), node);
  if (asked !== null && asked.entries.size > 0) {
    at.problems.warn(`${at.where} \`secrets\` cannot be fetched here: the job will fail`, asked.place);
  }
  return plainAt(node);
};

const hookKeys = new Set(['pre_get_sources_script']);

const hookOf = (at: At, node: Node | undefined): string[] => {
  const hooks = hashOf(at, node);
  if (hooks === null) return [];
  knowsKeys(at, hooks, hookKeys);
  const script = entryOf(hooks, 'pre_get_sources_script');
  return scriptOf(inner(at, 'pre_get_sources_script'), script, oldList) ?? [];
};

const ownParts = (at: At, hash: Hash) => ({
  coverage: coverageOf(at, hash),
  resource_group: textAt(at, hash, 'resource_group'),
  environment: environmentOf(inner(at, 'environment'), entryOf(hash, 'environment')),
  manual_confirmation: textAt(at, hash, 'manual_confirmation'),
  trigger: triggerOf(inner(at, 'trigger'), entryOf(hash, 'trigger')),
  release: releaseOf(inner(at, 'release'), entryOf(hash, 'release')),
  pages: plainAt(entryOf(hash, 'pages')),
  secrets: secretsAt(at, entryOf(hash, 'secrets')),
});

/** Says what is wrong in `default` itself, whether or not a job takes it over. */
export const checkDefaults = (at: At, defaults: JobDefaults): void => {
  const nothing = hashNode(new Map(), new Map(), { file: '', line: 1, column: 1 });
  scriptsOf(at, nothing, defaults);
  partsOf(at, nothing, defaults);
};

/** Whether it is no runner's: it starts another pipeline, or goes as one does. */
const isOfNoRunner = (hash: Hash): boolean => {
  const has = (key: string): boolean => entryOf(hash, key) !== undefined;
  return has('trigger') || (has('needs') && !has('script') && !has('run'));
};

/** @param hash the job as its file says it, `extends` and `!reference` carried out */
export const jobOf = (at: At, name: string, hash: Hash, defaults: JobDefaults): Job => {
  const isBridge = isOfNoRunner(hash);
  knowsKeys(at, hash, isBridge ? bridgeKeys : jobKeys);
  rulesWithOthers(at, hash);
  if (entryOf(hash, 'script') === undefined && !isBridge) {
    fault(at, notARun, hash.place, "script can't be blank");
  }
  sayWhatIsNotDone(at, name, hash);
  const stage = textAt(at, hash, 'stage') ?? textAt(at, hash, 'type') ?? defaults.stage;
  const job: Job = {
    name,
    group: name,
    stage,
    place: hash.place,
    variables: variablesOf(inner(at, 'variables'), entryOf(hash, 'variables')),
    inherit_variables: defaults.inherit_variables(hash),
    parallel: null,
    ...scriptsOf(at, hash, defaults),
    ...partsOf(at, hash, defaults),
    ...whenOf(at, hash),
    ...policiesOf(at, hash, defaults),
    ...needsAndDependencies(at, hash, isBridge),
    ...ownParts(at, hash),
  };
  if (!isBridge) return job;
  if (job.trigger === null && job.mirrors === null && entryOf(hash, 'trigger') === undefined) {
    fault(at, notABridge, hash.place, "script can't be blank");
  }
  if (job.when === 'delayed') fault(at, notDelayed, keyPlace(hash, 'when'));
  return withoutRun(job);
};
