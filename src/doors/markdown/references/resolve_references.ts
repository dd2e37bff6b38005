/**
 * Resolves the references of texts for one viewer. Hidden targets are treated like missing targets: each kind is loaded
 * through the visibility rule, in one statement. The result must not be cached for others.
 */
import type { Call } from '../../../core/access/call.ts';
import { type Project, visibleProjectsByPath } from '../../../projects/projects/find.ts';
import type { Reference, ReferenceKind } from '../convert/options.ts';
import { loadIssues, loadMergeRequests, loadSnippets } from './load_issuables.ts';
import { loadLabels, loadMilestones } from './load_labels.ts';
import { loadCommits, loadUsersAndGroups } from './load_users_and_commits.ts';
import type { LocatedReference, Targets } from './reference_target.ts';

/** Maximum distinct references that are resolved in one render; further references remain text. */
const maxReferences = 1_000;
/** Distinct projects that they may name. */
const maxProjects = 50;

const loaders: Record<
  Exclude<ReferenceKind, 'User'>,
  (call: Call, placed: readonly LocatedReference[]) => Promise<Targets>
> = {
  Issue: loadIssues,
  MergeRequest: loadMergeRequests,
  Snippet: loadSnippets,
  Label: loadLabels,
  Milestone: loadMilestones,
  Commit: loadCommits,
};

/** Returns the full path of the project that a reference names, in lower case; null: it names none. */
const toFullPath = (reference: Reference, project: Project | null): string | null => {
  const written = reference.project.toLowerCase();
  if (written.includes('/')) return written;
  if (project === null) return null;
  const own = project.full_path.toLowerCase();
  return written === '' ? own : `${own.slice(0, own.lastIndexOf('/'))}/${written}`;
};

const toKey = ({ kind, project, name, isQuoted }: Reference): string =>
  [kind, project.toLowerCase(), isQuoted, name].join(' ');

/** Pairs references with the projects that the viewer sees. */
const placeReferences = async (
  call: Call,
  references: readonly Reference[],
  project: Project | null,
): Promise<LocatedReference[]> => {
  const paths = new Map(references.map((reference) => [reference, toFullPath(reference, project)]));
  const others = new Set(paths.values());
  const own = project?.full_path.toLowerCase() ?? null;
  for (const loadedPath of [own, null]) others.delete(loadedPath);
  const some = [...others].filter((path) => path !== null).slice(0, maxProjects);
  const projects = await visibleProjectsByPath(call, some);
  if (project !== null && own !== null) projects.set(own, project);
  return references.flatMap((reference) => {
    const context = projects.get(paths.get(reference) ?? '');
    return context === undefined ? [] : [{ reference, project: context }];
  });
};

/**
 * Resolves references.
 * @param project what a reference without a path means; the viewer sees it
 * @returns targets by the key of their reference
 */
const loadTargets = async (
  call: Call,
  references: readonly Reference[],
  project: Project | null,
): Promise<Targets> => {
  const users = references.filter(({ kind }) => kind === 'User');
  const placed = await placeReferences(
    call,
    references.filter(({ kind }) => kind !== 'User'),
    project,
  );
  const byKind = Map.groupBy(placed, ({ reference }) => reference.kind);
  const loads = [...byKind].map(async ([kind, some]) =>
    kind === 'User' ? new Map() : await loaders[kind](call, some),
  );
  const loaded = await Promise.all([loadUsersAndGroups(call, users), ...loads]);
  return new Map(loaded.flatMap((targets) => [...targets]));
};

/** Resolves references, each distinct reference once. @param most maximum distinct references to resolve */
export const resolveReferences = async (
  call: Call,
  references: readonly Reference[],
  project: Project | null,
  most: number = maxReferences,
): Promise<Targets> => {
  const byKey = Map.groupBy(references, toKey);
  const firsts = [...byKey.values()].flatMap(([first]) => first ?? []).slice(0, most);
  const targets = firsts.length === 0 ? new Map() : await loadTargets(call, firsts, project);
  const resolved: Targets = new Map();
  for (const same of byKey.values()) {
    const target = same[0] === undefined ? undefined : targets.get(same[0]);
    for (const reference of target === undefined ? [] : same) resolved.set(reference, target);
  }
  return resolved;
};
