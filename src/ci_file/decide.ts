/** Whether a rule, or `only` and `except`, let a job into a pipeline. */
import type { Conditions, Facts, Work } from './conditions.ts';
import { type Values, expandKnown } from './expand.ts';
import { TooExpensive, isTrue } from './expression/evaluate.ts';
import { pathPattern, stepsOfPath } from './fnmatch.ts';
import { patternOf } from './pattern.ts';
import type { PathRule, Policy, Rule } from './plan_types.ts';

/** What one decision looks at. */
export type Deciding = { facts: Facts; values: Values; work: Work };

/** @param list which paths these are, for what was found before */
const matchesAny = (
  patterns: readonly string[],
  paths: readonly string[],
  list: string,
  { values, work }: Deciding,
): boolean =>
  patterns.some((text) => {
    const pattern = expandKnown(text, values).replace(/^\.?\//, '');
    const known = work.matched.get(`${list} ${pattern}`);
    if (known !== undefined) return known;
    const matches = pathPattern(pattern);
    work.left -= paths.length * stepsOfPath(pattern);
    if (work.left < 0) throw new TooExpensive();
    const found = paths.some(matches);
    work.matched.set(`${list} ${pattern}`, found);
    return found;
  });

const changesHold = (changes: PathRule, deciding: Deciding): boolean => {
  const changed = deciding.facts.changed.get(changes.compare_to) ?? null;
  return changed === null || matchesAny(changes.paths, changed, `changed ${changes.compare_to}`, deciding);
};

type Clauses = Pick<Rule, 'if' | 'changes' | 'exists'>;

/** All that a rule asks has to hold; one that asks nothing always does. */
export const ruleHolds = (rule: Clauses, deciding: Deciding): boolean => {
  const { facts, values, work } = deciding;
  if (rule.if !== null && !isTrue(rule.if, values, work)) return false;
  if (rule.changes !== null && !changesHold(rule.changes, deciding)) return false;
  return (
    rule.exists === null || facts.files === null || matchesAny(rule.exists, facts.files, 'files', deciding)
  );
};

/** `push` -> `pushes`, `merge_request_event` -> `merge_requests`. */
const sourceWords = (source: string): string[] => {
  const word = source.replace(/_event$/, '');
  return [word, word === 'push' ? 'pushes' : `${word}s`];
};

type Where = Pick<Conditions, 'source' | 'ref' | 'ref_type' | 'project_path'>;

/** `name@path`, `/pattern/@path` */
const withPath = /^(\/.*?\/[ismU]*|[^/@][^@]*)@(.*)$/s;

const refMatches = (entry: string, where: Where): boolean => {
  const [, ref = entry, path = null] = withPath.exec(entry) ?? [];
  if (path !== null && path !== where.project_path) return false;
  if (where.ref_type === 'tag' && ref === 'tags') return true;
  if (where.ref_type === 'branch' && ref === 'branches') return true;
  if (sourceWords(where.source).includes(ref)) return true;
  if (where.ref_type === 'merge_request') return false;
  return ref.startsWith('/') ? patternOf(ref)?.test(where.ref) === true : ref === where.ref;
};

/** What each of the keys says; those that are not given say nothing. */
const policyParts = (policy: Policy, where: Where, deciding: Deciding): boolean[] => {
  const { refs, variables, changes, kubernetes } = policy;
  return [
    ...(kubernetes ? [false] : []),
    ...(refs === null ? [] : [refs.some((entry) => refMatches(entry, where))]),
    ...(variables === null
      ? []
      : [variables.some((expression) => isTrue(expression, deciding.values, deciding.work))]),
    ...(changes === null ? [] : [changesHold({ paths: changes, compare_to: null }, deciding)]),
  ];
};

/** `only` means all that it names, `except` any. */
export const policiesHold = (
  { only, except }: { only: Policy | null; except: Policy | null },
  where: Where,
  deciding: Deciding,
): boolean => {
  if (only !== null && !policyParts(only, where, deciding).every(Boolean)) return false;
  return except === null || !policyParts(except, where, deciding).some(Boolean);
};
