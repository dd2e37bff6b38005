/** Commits directly to a project's repository, as the API would. */
import type { TestService } from '../service.ts';
import { getRepository } from '../../../src/code/repository/get_repository.ts';
import { moveRefs } from '../../../src/code/repository/refs/move_refs.ts';
import { zeroOid } from '../../../src/platform/git/protocol_types.ts';
import {
  type Repository,
  type RepositoryLocation,
  repositoryColumns,
} from '../../../src/platform/git/repository.ts';

export type Files = { [path: string]: string | null };

/** Returns the location of a project's repository. */
export const getRepositoryPlace = async (
  { service }: TestService,
  projectId: number,
): Promise<RepositoryLocation> =>
  await service.platform.store.db
    .selectFrom('projects')
    .select(['projects.id', ...repositoryColumns])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow();

/** Returns a project's repository in its present state. */
export const openRepository = async (gantry: TestService, projectId: number): Promise<Repository> =>
  getRepository(gantry.service.platform, await getRepositoryPlace(gantry, projectId));

const signature = { name: 'Ada Lovelace', email: 'ada@example.com', time: 1_500_000_000, offset: '+0000' };

export type SeedCommitOptions = {
  branch?: string;
  /** The start point of a new branch. */
  from?: string;
  onto?: string | null;
  message?: string;
  /** Id of the committing user. Default: root. */
  by?: number;
};

/**
 * Writes files (null deletes one) in one commit to a branch, creating the branch if it is missing.
 * @param onto the parent commit, if it is not the tip of the branch: a force push
 * @returns the commit's id
 */
export const seedCommit = async (
  gantry: TestService,
  projectId: number,
  files: Files,
  { branch = 'main', from, onto, message, by = 1 }: SeedCommitOptions = {},
): Promise<string> => {
  const { platform } = gantry.service;
  const project = await getRepositoryPlace(gantry, projectId);
  const repository = getRepository(platform, project);
  await repository.ask('repository.create', {});
  const ref = `refs/heads/${branch}`;
  const names = [ref, `refs/heads/${from ?? branch}`];
  const { refs } = await repository.ask('refs.get', { names });
  const tip = refs[0]?.target ?? null;
  const parent = onto === undefined ? (tip ?? refs[1]?.target ?? null) : onto;
  const tree =
    parent === null
      ? null
      : await repository.ask('tree.list', {
          commit: parent,
          path: '',
          recursive: true,
          offset: 0,
          limit: 1000,
        });
  const existing = new Set(tree?.entries.map(({ path }) => path) ?? []);
  const parts: Buffer[] = [];
  let offset = 0;
  const actions = Object.entries(files).map(([file_path, text]) => {
    if (text === null) return { action: 'delete' as const, file_path };
    const bytes = Buffer.from(text);
    const content = { offset, length: bytes.length };
    parts.push(bytes);
    offset += bytes.length;
    return {
      action: existing.has(file_path) ? ('update' as const) : ('create' as const),
      file_path,
      content,
    };
  });
  const params = {
    parent,
    actions,
    message: message ?? `Change ${Object.keys(files).join(', ')}\n`,
    author: signature,
    committer: signature,
  };
  const made = await repository.ask('commit.actions', params, Buffer.concat(parts));
  if (!('id' in made)) throw new Error(JSON.stringify(made));
  const updates = [{ ref, old: tip ?? zeroOid, new: made.id }];
  await moveRefs(platform, {
    project,
    cause: { user: { id: by }, sudo_by_id: null },
    kind: 'commit',
    updates,
  });
  return made.id;
};
