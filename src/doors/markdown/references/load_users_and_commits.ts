import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { getCallerSight, storageSight } from '../../../code/repository/find_code.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Reference } from '../convert/options.ts';
import { type LocatedReference, type Targets, distinct, groupByProject } from './reference_target.ts';

/** Loads the users that references name. Anonymous callers get none, as over the API. */
export const loadUsers = async ({ db, viewer }: Call, references: readonly Reference[]): Promise<Targets> => {
  if (viewer.user_id === null || references.length === 0) return new Map();
  const names = distinct(references.map(({ name }) => name.toLowerCase()));
  const rows = await db
    .selectFrom('users')
    .select(['username', 'name'])
    .where(sql<string>`lower(username)`, 'in', names)
    .execute();
  const users = new Map(rows.map((row) => [row.username.toLowerCase(), row]));
  return new Map(
    references.flatMap((reference) => {
      const user = users.get(reference.name.toLowerCase());
      return user === undefined
        ? []
        : [[reference, { path: `/${user.username}`, title: user.name, label: null }]];
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
