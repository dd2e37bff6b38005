import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { visibleGroups } from '../../../identity/groups/visible.ts';
import { getCallerSight, storageSight } from '../../../code/repository/find_code.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Reference } from '../convert/options.ts';
import { type LocatedReference, type Targets, distinct, groupByProject } from './reference_target.ts';

type Named = { kind: 'user' | 'group'; path: string; name: string };

/** Loads, in one statement, the users and the visible groups with these names. Anonymous callers get no users. */
const loadNamed = async ({ db, viewer, platform }: Call, names: readonly string[]): Promise<Named[]> => {
  const { dialect } = platform.store;
  const groups = db
    .selectFrom('namespaces')
    .select([sql<Named['kind']>`'group'`.as('kind'), 'namespaces.full_path as path', 'namespaces.name'])
    .where('namespaces.id', 'in', (from) =>
      from
        .selectFrom('routes')
        .select('source_id')
        .where(dialect.oneOf('routes.path', names))
        .where('source_type', '=', 'Namespace'),
    )
    .where(visibleGroups(viewer, dialect));
  if (viewer.user_id === null) return await groups.execute();
  return await db
    .selectFrom('users')
    .select([sql<Named['kind']>`'user'`.as('kind'), 'username as path', 'name'])
    .where(sql<string>`lower(username)`, 'in', names)
    .unionAll(groups)
    .execute();
};

/** Loads the users and groups that references name. Anonymous callers get no users, as over the API. */
export const loadUsersAndGroups = async (call: Call, references: readonly Reference[]): Promise<Targets> => {
  if (references.length === 0) return new Map();
  const rows = await loadNamed(call, distinct(references.map(({ name }) => name.toLowerCase())));
  const targets = new Map(
    rows.map(({ kind, path, name }) => [
      path.toLowerCase(),
      { path: kind === 'group' ? `/groups/${path}` : `/${path}`, title: name, label: null },
    ]),
  );
  return new Map(
    references.flatMap((reference) => {
      const target = targets.get(reference.name.toLowerCase());
      return target === undefined ? [] : [[reference, target] as const];
    }),
  );
};

const shortIdLength = 8;

/** Finds commits of one project; none if its storage fails, so that the page still renders. */
const findCommits = async (call: Call, project: Project, ids: string[]): Promise<(Commit | null)[]> => {
  const repository = getRepository(call.platform, project);
  const sight = getCallerSight(call.db, call.viewer, project);
  try {
    const { commits } = await repository.ask('commits.find', { ids, ...storageSight({ sight }) });
    return commits;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    call.platform.log.warn({ error }, 'finding the commits of a text failed');
    return [];
  }
};

/** Loads the commits that references name, with one call to the storage for each project. */
export const loadCommits = async (call: Call, all: readonly LocatedReference[]): Promise<Targets> => {
  const placed = all.filter(({ project }) => may(call.viewer, 'read_code', project));
  const loading = groupByProject(placed).map(async ([project, references]) => {
    const ids = distinct(references.map(({ name }) => name));
    const commits = await findCommits(call, project, ids);
    const byId = new Map(ids.map((id, index) => [id, commits[index] ?? null]));
    return references.flatMap((reference) => {
      const commit = byId.get(reference.name);
      if (commit === undefined || commit === null) return [];
      const target = {
        path: `/${project.full_path}/-/commit/${commit.id}`,
        title: commit.message.split('\n')[0] ?? '',
        label: commit.id.slice(0, shortIdLength),
      };
      return [[reference, target] as const];
    });
  });
  return new Map((await Promise.all(loading)).flat());
};
