/** Evaluates `rules`, `only` and `except`. */
import type { Conditions, Facts, Budget } from './conditions.ts';
import { type Values, expandKnownVariables } from './syntax/expand_variables.ts';
import { TooExpensive, isTrue } from './expression/evaluate.ts';
import { compilePathPattern, countPathSteps } from './syntax/fnmatch.ts';
import { parsePattern } from '../../platform/pattern.ts';
import type { PathRule, Policy, Rule } from './config_types.ts';

/** Input of one decision. */
export type RuleContext = { facts: Facts; values: Values; budget: Budget };

/** @param list identifies the paths in the cache of matches */
const matchesAny = (
  patterns: readonly string[],
  paths: readonly string[],
  list: string,
  { values, budget }: RuleContext,
): boolean =>
  patterns.some((text) => {
    const pattern = expandKnownVariables(text, values).replace(/^\.?\//, '');
    const cached = budget.matched.get(`${list} ${pattern}`);
    if (cached !== undefined) return cached;
    const matches = compilePathPattern(pattern);
    budget.left -= paths.length * countPathSteps(pattern);
    if (budget.left < 0) throw new TooExpensive();
    const isMatch = paths.some(matches);
    budget.matched.set(`${list} ${pattern}`, isMatch);
    return isMatch;
  });

const matchesChanges = (changes: PathRule, context: RuleContext): boolean => {
  const changed = context.facts.changed.get(changes.compare_to) ?? null;
  return changed === null || matchesAny(changes.paths, changed, `changed ${changes.compare_to}`, context);
};

type RuleClauses = Pick<Rule, 'if' | 'changes' | 'exists'>;

/** Checks that all clauses of a rule match. A rule without clauses always matches. */
export const matchesRule = (rule: RuleClauses, context: RuleContext): boolean => {
  const { facts, values, budget } = context;
  if (rule.if !== null && !isTrue(rule.if, values, budget)) return false;
  if (rule.changes !== null && !matchesChanges(rule.changes, context)) return false;
  return (
    rule.exists === null || facts.files === null || matchesAny(rule.exists, facts.files, 'files', context)
  );
};

/** `push` -> `pushes`, `merge_request_event` -> `merge_requests`. */
const toSourceNames = (source: string): string[] => {
  const word = source.replace(/_event$/, '');
  return [word, word === 'push' ? 'pushes' : `${word}s`];
};

type PipelineRef = Pick<Conditions, 'source' | 'ref' | 'ref_type' | 'project_path'>;

/** `name@path`, `/pattern/@path` */
const refWithPath = /^(\/.*?\/[ismU]*|[^/@][^@]*)@(.*)$/s;

const matchesRef = (entry: string, where: PipelineRef): boolean => {
  const [, ref = entry, path = null] = refWithPath.exec(entry) ?? [];
  if (path !== null && path !== where.project_path) return false;
  if (where.ref_type === 'tag' && ref === 'tags') return true;
  if (where.ref_type === 'branch' && ref === 'branches') return true;
  if (toSourceNames(where.source).includes(ref)) return true;
  if (where.ref_type === 'merge_request') return false;
  return ref.startsWith('/') ? parsePattern(ref)?.test(where.ref) === true : ref === where.ref;
};

/** Returns the result of each key that the policy has. */
const evaluatePolicy = (policy: Policy, where: PipelineRef, context: RuleContext): boolean[] => {
  const { refs, variables, changes, kubernetes } = policy;
  return [
    ...(kubernetes ? [false] : []),
    ...(refs === null ? [] : [refs.some((entry) => matchesRef(entry, where))]),
    ...(variables === null
      ? []
      : [variables.some((expression) => isTrue(expression, context.values, context.budget))]),
    ...(changes === null ? [] : [matchesChanges({ paths: changes, compare_to: null }, context)]),
  ];
};

/** Every key of `only` must match, and no key of `except`. */
export const matchesPolicies = (
  { only, except }: { only: Policy | null; except: Policy | null },
  where: PipelineRef,
  context: RuleContext,
): boolean => {
  if (only !== null && !evaluatePolicy(only, where, context).every(Boolean)) return false;
  return except === null || !evaluatePolicy(except, where, context).some(Boolean);
};
