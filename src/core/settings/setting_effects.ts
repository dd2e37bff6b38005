/** Pure functions that turn settings into what other code needs: URLs, limits, reasons to refuse. */
import { matchesWildcard } from '../../platform/wildcard.ts';
import type { Settings } from './fields.ts';

/** Returns why the caller may not use this visibility; null if they may. */
export const findVisibilityProblem = (
  { settings, admin }: { settings: Settings; admin: boolean },
  visibility: string,
): string | null =>
  !admin && settings.restricted_visibility_levels.includes(visibility)
    ? `${visibility} has been restricted by your administrator`
    : null;

/** Returns whether the instance accepts clones and pushes by this protocol. */
export const isGitProtocolEnabled = (
  { enabled_git_access_protocol: only }: Settings,
  protocol: 'http' | 'ssh',
): boolean => only === null || only === protocol;

/** Returns `Poll-Interval`: the usual interval times the multiplier, in milliseconds; -1: do not poll. */
export const getPollInterval = (
  { polling_interval_multiplier: times }: Settings,
  milliseconds: number,
): string => String(times === 0 ? -1 : Math.round(milliseconds * times));

/** Encodes the address or path of a setting for a header: names and paths may contain letters of any script. */
export const toAsciiUrl = (url: string | null): string | null => {
  if (url === null || !url.startsWith('/')) return url === null ? null : new URL(url).href;
  const { pathname, search, hash } = new URL(url, 'http://own.invalid');
  return pathname + search + hash;
};

/** Returns the address that opens a project in the IDE; null if the IDE is off. */
export const getIdeLink = ({ ide_enabled, ide_url }: Settings, projectUrl: string): string | null => {
  if (!ide_enabled || ide_url === null) return null;
  const url = new URL(ide_url);
  url.searchParams.set('repo', projectUrl);
  return url.href;
};

/** Returns the address of the diagram service; null if it is off. */
export const getDiagramServer = ({ diagram_enabled, diagram_url }: Settings): string | null =>
  diagram_enabled ? diagram_url : null;

/** Returns the destinations that outgoing requests may reach in addition to the public Internet. */
export const getOutgoingRules = ({
  allow_local_requests_from_hooks_and_services: isLocalAllowed,
  outbound_local_requests_whitelist: allowedHosts,
}: Settings): { isLocalAllowed: boolean; allowedHosts: readonly string[] } => ({
  isLocalAllowed,
  allowedHosts,
});

/**
 * Chooses the storage of a new project's repository.
 * @param random number from 0 to below 1
 */
export const chooseStorage = ({ repository_storages: names }: Settings, random: number): string =>
  names[Math.floor(random * names.length)] ?? 'default';

/** Returns the roles that may push to and merge into a newly pushed default branch; null: not protected. */
export const getFirstBranchProtection = ({
  default_branch_protection: level,
}: Pick<Settings, 'default_branch_protection'>): {
  push: 'developer' | 'master';
  merge: 'developer' | 'master';
} | null => {
  if (level === 0) return null;
  return { push: level === 1 ? 'developer' : 'master', merge: level === 3 ? 'developer' : 'master' };
};

/**
 * Returns why an e-mail address may not sign up, in GitLab's words; null if it may. The list of allowed domains takes
 * precedence over the list of refused domains.
 */
export const findEmailDomainProblem = (settings: Settings, email: string): string | null => {
  const domain = email
    .slice(email.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase();
  const isIn = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matchesWildcard(pattern.toLowerCase(), domain));
  const { domain_whitelist: allowed, domain_blacklist_enabled, domain_blacklist: refused } = settings;
  if (allowed.length > 0) return isIn(allowed) ? null : 'domain is not authorized for sign-up';
  return domain_blacklist_enabled && isIn(refused) ? 'is not from an allowed domain.' : null;
};
