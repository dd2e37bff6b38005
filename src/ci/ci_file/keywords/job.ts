/** Parses one job of the file. */
import {
  type At,
  parseBoolean,
  durationAt,
  parseDurationText,
  reportFault,
  parseHash,
  inner,
  checkKeys,
  oneOfAt,
  parseScript,
  parseStrings,
  textAt,
  warnNotImplemented,
  rejectUnsupported,
} from './typed_values.ts';
import { parseArtifacts } from './artifacts.ts';
import { parseCaches } from './cache.ts';
import { parseDuration } from './duration.ts';
import { parseEnvironment } from './environment.ts';
import { parseImage, parseServices } from './image.ts';
import { bridgeKeys, notImplementedKeys, jobKeys, refusedKeys } from './keys.ts';
import {
  type Hash,
  type Node,
  getEntry,
  hashNode,
  getKeyPosition,
  toPlainValue,
  getString,
} from '../syntax/node.ts';
import { parseNeeds } from './needs.ts';
import { splitPattern, compilePattern } from '../../../platform/pattern.ts';
import type { Job, Policy } from '../config_types.ts';
import { parsePolicy } from './policy.ts';
import { parseRelease } from './release.ts';
import { parseAllowFailure } from './allow_failure.ts';
import { parseRetry } from './retry.ts';
import { parseRules } from './rules.ts';
import { parseTrigger, withoutRunKeywords } from './trigger.ts';
import { parseVariables } from './variables.ts';

export type JobDefaults = {
  stage: string;
  /** The default `only`, in a file whose workflow has no rules. */
  only: Policy | null;
  /** Looks up a keyword of a job, or of `default` if the job inherits it. `where`: the key of an inherited one, else null. */
  lookUpKeyword: (hash: Hash, key: string) => JobPart;
  /** Parsed keywords of `default`, shared by all jobs. */
  parsed: Map<string, unknown>;
  inherit_variables: (hash: Hash) => boolean | string[];
};

type JobPart = { node: Node | undefined; where: string | null };

/** Parses a keyword. Inherited keywords are parsed once. */
const parsePart = <T>(
  { at, hash, defaults }: { at: At; hash: Hash; defaults: JobDefaults },
  key: string,
  read: (at: At, node: Node | undefined) => T,
): T => {
  const { node, where } = defaults.lookUpKeyword(hash, key);
  if (where === null) return read(inner(at, key), node);
  const cached = defaults.parsed.get(key);
  if (cached !== undefined) return cached as T;
  const value = read({ where, problems: at.problems }, node);
  defaults.parsed.set(key, value);
  return value;
};

const whens = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const;
const legacyWhenText = 'should be on_success, on_failure, always or manual';
const maxDelay = 7 * 86_400;
const maxTimeout = 30 * 86_400;
const stringArrayText = 'config should be an array of strings';
const bridgeWhenText = 'when should be one of: on_success, on_failure, always, manual';
const missingScriptText = 'config should implement the script:, run:, or trigger: keyword';
const missingTriggerText = 'config should contain either a trigger or a needs:pipeline';

const parseScripts = (at: At, hash: Hash, defaults: JobDefaults) => {
  const read = (key: string, problemText: string): string[] =>
    parsePart({ at, hash, defaults }, key, (where, node) => parseScript(where, node, problemText) ?? []);
  return {
    script: read('script', 'config should be a string or an array of strings'),
    before_script: read('before_script', stringArrayText),
    after_script: read('after_script', stringArrayText),
  };
};

const checkRulesConflicts = (at: At, hash: Hash): void => {
  if (getEntry(hash, 'rules') === undefined) return;
  const others = ['only', 'except', 'start_in'].filter((key) => getEntry(hash, key) !== undefined);
  const [first] = others;
  if (first === undefined) return;
  reportFault(
    at,
    `config key may not be used with \`rules\`: ${others.join(', ')}`,
    getKeyPosition(hash, first),
  );
};

const parseCoverage = (at: At, hash: Hash): string | null => {
  const node = getEntry(hash, 'coverage');
  const text = getString(node);
  const parts = text === null ? null : splitPattern(text);
  if (node === undefined) return null;
  if (parts !== null && compilePattern(parts.source, parts.flags) !== null) return text;
  reportFault(inner(at, 'coverage'), 'config must be a regular expression', node.position);
  return null;
};

const parseStartIn = (at: At, hash: Hash, when: Job['when']): string | null => {
  if (getEntry(hash, 'rules') !== undefined) return null;
  const start_in = durationAt(at, hash, 'start_in', maxDelay);
  if (when === 'delayed' && !hash.entries.has('start_in')) {
    reportFault(at, 'start in should be a duration', getKeyPosition(hash, 'when'));
  } else if (when !== 'delayed' && start_in !== null) {
    reportFault(at, 'start in must be blank', getKeyPosition(hash, 'start_in'));
  }
  return start_in;
};

const parseTimeout = (at: At, node: Node | undefined): number | null => {
  const outer = { ...at, where: at.where.replace(/:?timeout$/, '') };
  const text = parseDurationText(outer, 'timeout', node, maxTimeout);
  return text === null ? null : parseDuration(text);
};

const parseDependencies = (at: At, hash: Hash): string[] | null => {
  const node = getEntry(hash, 'dependencies');
  return parseStrings(at, node, 'dependencies should be an array of strings');
};

/** Parses `when`, `start_in` and `allow_failure`, which depend on each other. */
const parseWhen = (at: At, hash: Hash) => {
  const when = oneOfAt(at, hash, 'when', { words: whens, old: legacyWhenText }) ?? 'on_success';
  const failure = parseAllowFailure(inner(at, 'allow_failure'), getEntry(hash, 'allow_failure'));
  return {
    when,
    start_in: parseStartIn(at, hash, when),
    allow_failure: failure?.allow_failure ?? when === 'manual',
    allow_failure_exit_codes: failure?.exit_codes ?? [],
  };
};

const parsePolicies = (at: At, hash: Hash, defaults: JobDefaults) => {
  const rules = parseRules(inner(at, 'rules'), getEntry(hash, 'rules'), 'job');
  const only = parsePolicy(inner(at, 'only'), getEntry(hash, 'only'));
  const except = parsePolicy(inner(at, 'except'), getEntry(hash, 'except'));
  const inheritedOnly = rules === null ? defaults.only : null;
  return {
    rules,
    only: only === null ? inheritedOnly : { ...only, refs: only.refs ?? inheritedOnly?.refs ?? null },
    except,
  };
};

/** Parses `needs`. Jobs with a script may take artifacts of other pipelines; bridge jobs may mirror a pipeline's status. */
const parseJobNeeds = (at: At, hash: Hash, isBridge: boolean) => {
  const node = getEntry(hash, 'needs');
  if (node === undefined) return null;
  const parsedNeeds = parseNeeds(
    inner(at, 'needs'),
    node,
    isBridge ? ['job', 'bridge'] : ['job', 'cross_dependency'],
  );
  if (parsedNeeds.mirrors === null || getEntry(hash, 'trigger') === undefined) return parsedNeeds;
  at.problems.warn(`${at.where}:needs:pipeline is ignored in a job with trigger`, node.position);
  return { ...parsedNeeds, mirrors: null };
};

const parseNeedsAndDependencies = (at: At, hash: Hash, isBridge: boolean) => {
  const parsedNeeds = parseJobNeeds(at, hash, isBridge);
  const mirrors = parsedNeeds?.mirrors ?? null;
  const dependencies = parseDependencies(at, hash);
  const needed = new Set(parsedNeeds?.needs.map(({ job }) => job));
  const missing = parsedNeeds === null ? [] : (dependencies ?? []).filter((job) => !needed.has(job));
  if (missing.length > 0) {
    const text = `dependencies the ${missing.join(', ')} should be part of needs`;
    reportFault(at, text, getKeyPosition(hash, 'dependencies'));
  }
  // A job that mirrors a pipeline needs no job: it starts with its stage.
  const needs = mirrors === null ? (parsedNeeds?.needs ?? null) : null;
  return { needs, cross_needs: parsedNeeds?.cross_needs ?? [], mirrors, dependencies };
};

const isFalse = (node: Node | undefined): boolean => node?.kind === 'scalar' && node.value === false;

/** Warns that pages are not published, for jobs named `pages` or with the keyword. */
const warnPages = (at: At, name: string, hash: Hash): void => {
  const pages = getEntry(hash, 'pages');
  if (pages === undefined && name === 'pages' && getEntry(hash, 'trigger') === undefined) {
    at.problems.warn(`${at.where} runs as any job: its artifacts are not published as a site`, hash.position);
  }
  if (!isFalse(pages)) warnNotImplemented(at, hash, 'pages');
};

const reportUnsupported = (at: At, name: string, hash: Hash): void => {
  for (const key of refusedKeys) rejectUnsupported(at, hash, key);
  for (const key of notImplementedKeys) warnNotImplemented(at, hash, key);
  warnPages(at, name, hash);
};

const parseStringList = (at: At, node: Node | undefined): string[] =>
  parseStrings(at, node, stringArrayText) ?? [];

const parseInheritableParts = (at: At, hash: Hash, defaults: JobDefaults) => {
  const parseKey = <T>(key: string, read: (at: At, node: Node | undefined) => T): T =>
    parsePart({ at, hash, defaults }, key, read);
  return {
    image: parseKey('image', parseImage),
    services: parseKey('services', parseServices),
    tags: parseKey('tags', parseStringList),
    artifacts: parseKey('artifacts', parseArtifacts),
    cache: parseKey('cache', parseCaches),
    retry: parseKey('retry', parseRetry),
    timeout: parseKey('timeout', parseTimeout),
    interruptible: parseKey('interruptible', (_, node) => parseBoolean(at, 'interruptible', node)),
    id_tokens: parseKey('id_tokens', (_, node) => toPlainOrNull(node)),
    pre_get_sources_script: parseKey('hooks', parseHooks),
  };
};

const toPlainOrNull = (node: Node | undefined): unknown => (node === undefined ? null : toPlainValue(node));

const parseSecrets = (at: At, node: Node | undefined): unknown => {
  const secrets = parseHash(inner(at, 'secrets'), node);
  if (secrets !== null && secrets.entries.size > 0) {
    at.problems.warn(`${at.where} \`secrets\` cannot be fetched here: the job will fail`, secrets.position);
  }
  return toPlainOrNull(node);
};

export const hookKeys = new Set(['pre_get_sources_script']);

const parseHooks = (at: At, node: Node | undefined): string[] => {
  const hooks = parseHash(at, node);
  if (hooks === null) return [];
  checkKeys(at, hooks, hookKeys);
  const script = getEntry(hooks, 'pre_get_sources_script');
  return parseScript(inner(at, 'pre_get_sources_script'), script, stringArrayText) ?? [];
};

const parseOwnParts = (at: At, hash: Hash) => ({
  coverage: parseCoverage(at, hash),
  resource_group: textAt(at, hash, 'resource_group'),
  environment: parseEnvironment(inner(at, 'environment'), getEntry(hash, 'environment')),
  manual_confirmation: textAt(at, hash, 'manual_confirmation'),
  trigger: parseTrigger(inner(at, 'trigger'), getEntry(hash, 'trigger')),
  release: parseRelease(inner(at, 'release'), getEntry(hash, 'release')),
  pages: toPlainOrNull(getEntry(hash, 'pages')),
  secrets: parseSecrets(at, getEntry(hash, 'secrets')),
});

/** Reports errors in `default`, even if no job inherits it. */
export const checkDefaults = (at: At, defaults: JobDefaults): void => {
  const empty = hashNode(new Map(), new Map(), { file: '', line: 1, column: 1 });
  parseScripts(at, empty, defaults);
  parseInheritableParts(at, empty, defaults);
};

/** True if the job is a bridge: it starts or mirrors another pipeline, and needs no runner. */
const isBridgeJob = (hash: Hash): boolean => {
  const has = (key: string): boolean => getEntry(hash, key) !== undefined;
  return has('trigger') || (has('needs') && !has('script') && !has('run'));
};

/** @param hash the job after `extends` and `!reference` are resolved */
export const parseJob = (at: At, name: string, hash: Hash, defaults: JobDefaults): Job => {
  const isBridge = isBridgeJob(hash);
  checkKeys(at, hash, isBridge ? bridgeKeys : jobKeys);
  checkRulesConflicts(at, hash);
  if (getEntry(hash, 'script') === undefined && !isBridge) {
    reportFault(at, missingScriptText, hash.position, "script can't be blank");
  }
  reportUnsupported(at, name, hash);
  const stage = textAt(at, hash, 'stage') ?? textAt(at, hash, 'type') ?? defaults.stage;
  const job: Job = {
    name,
    group: name,
    stage,
    position: hash.position,
    variables: parseVariables(inner(at, 'variables'), getEntry(hash, 'variables')),
    inherit_variables: defaults.inherit_variables(hash),
    parallel: null,
    ...parseScripts(at, hash, defaults),
    ...parseInheritableParts(at, hash, defaults),
    ...parseWhen(at, hash),
    ...parsePolicies(at, hash, defaults),
    ...parseNeedsAndDependencies(at, hash, isBridge),
    ...parseOwnParts(at, hash),
  };
  if (!isBridge) return job;
  if (job.trigger === null && job.mirrors === null && getEntry(hash, 'trigger') === undefined) {
    reportFault(at, missingTriggerText, hash.position, "script can't be blank");
  }
  if (job.when === 'delayed') reportFault(at, bridgeWhenText, getKeyPosition(hash, 'when'));
  return withoutRunKeywords(job);
};
