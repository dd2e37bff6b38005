/** What some settings mean to those who ask: pure, so that each question has one answer. */
import { hash } from 'node:crypto';
import { matchesWildcard } from '../wildcard.ts';
import type { Settings } from './fields.ts';

/** Why this caller may not give something this visibility; null: he may. */
export const restrictedProblem = (
  { settings, admin }: { settings: Settings; admin: boolean },
  visibility: string,
): string | null =>
  !admin && settings.restricted_visibility_levels.includes(visibility)
    ? `${visibility} has been restricted by your administrator`
    : null;

/** Whether the instance takes clones and pushes by this protocol. */
export const isGitProtocolEnabled = (
  { enabled_git_access_protocol: only }: Settings,
  protocol: 'http' | 'ssh',
): boolean => only === null || only === protocol;

/** `Poll-Interval` for what clients should ask again after that many milliseconds: -1 where they should not poll. */
export const pollInterval = (
  { polling_interval_multiplier: times }: Settings,
  milliseconds: number,
): string => String(times === 0 ? -1 : Math.round(milliseconds * times));

/** The address of a setting as a header takes it: a name or a path may hold letters of any script. */
export const plainAddress = (url: string | null): string | null => (url === null ? null : new URL(url).href);

/** Address of a user's picture at the avatar service; null: the service is off. */
export const avatarServiceUrl = ({ avatar_service_enabled }: Settings, email: string): string | null =>
  avatar_service_enabled
    ? `http://www.gravatar.com/avatar/${hash('md5', email.trim().toLowerCase())}?s=80&d=identicon`
    : null;

/** Where a project is opened in the IDE; null: nowhere. */
export const ideLink = ({ ide_enabled, ide_url }: Settings, projectUrl: string): string | null => {
  if (!ide_enabled || ide_url === null) return null;
  const url = new URL(ide_url);
  url.searchParams.set('repo', projectUrl);
  return url.href;
};

/** Who draws the diagrams of a page; null: nobody. */
export const diagramServer = ({ diagram_enabled, diagram_url }: Settings): string | null =>
  diagram_enabled ? diagram_url : null;

/** Milliseconds that a terminal may stay open; null: as long as it likes. */
export const longestTerminal = ({ terminal_max_session_time: seconds }: Settings): number | null =>
  seconds === 0 ? null : seconds * 1_000;

/** Where a new project's repository goes. @param random a number from 0 to below 1 */
export const storageOf = ({ repository_storages: names }: Settings, random: number): string =>
  names[Math.floor(random * names.length)] ?? 'default';

/** Roles that may push to and merge into a default branch as it is first pushed; null: it is not protected. */
export const firstBranchProtection = ({
  default_branch_protection: level,
}: Pick<Settings, 'default_branch_protection'>): {
  push: 'developer' | 'master';
  merge: 'developer' | 'master';
} | null => {
  if (level === 0) return null;
  return { push: level === 1 ? 'developer' : 'master', merge: level === 3 ? 'developer' : 'master' };
};

/**
 * Why nobody may sign up with this address, in GitLab's words; null: he may. A domain on the list of those that may
 * is let in whatever the other list says.
 */
export const emailDomainProblem = (settings: Settings, email: string): string | null => {
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
