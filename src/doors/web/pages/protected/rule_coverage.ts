/** Which branches or tags the rules of a page cover. */
import { openCode } from '../../../../code/repository/find_code.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { matchesWildcard } from '../../../../platform/wildcard.ts';
import type { Visit } from '../../page.ts';

/** Names compared with patterns; of a larger repository, the numbers are at least so many. */
const maxNames = 2_000;

/** The coverage of a rule: the number of refs that match a pattern, or whether the ref exists. */
export type Coverage = { isPattern: boolean; count: number; isPartial: boolean };

const isPattern = (name: string): boolean => name.includes('*');

/** @param prefix `refs/heads/` or `refs/tags/` */
export const loadCoverage = async (
  { call }: Visit,
  project: Project,
  prefix: string,
  rules: readonly string[],
): Promise<Map<string, Coverage>> => {
  const { repository } = openCode(call, project);
  const exact = rules.filter((name) => !isPattern(name));
  const [listed, found] = await Promise.all([
    exact.length === rules.length
      ? { names: [], total: 0 }
      : repository.ask('refs.names', { prefix, sort: 'name', offset: 0, limit: maxNames }),
    exact.length === 0
      ? { refs: [] }
      : repository.ask('refs.get', { names: exact.map((name) => prefix + name) }),
  ]);
  const names = listed.names.map((name) => name.slice(prefix.length));
  const existing = new Set(exact.filter((_name, at) => (found.refs[at] ?? null) !== null));
  const coverageOf = (rule: string): Coverage =>
    isPattern(rule)
      ? {
          isPattern: true,
          count: names.filter((name) => matchesWildcard(rule, name)).length,
          isPartial: listed.total > names.length,
        }
      : { isPattern: false, count: existing.has(rule) ? 1 : 0, isPartial: false };
  return new Map(rules.map((rule) => [rule, coverageOf(rule)]));
};
