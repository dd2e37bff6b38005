/** Commits put straight into a project's repository, as the API would: for tests of what is read of it. */
import type { TestService } from './service.ts';
import { repositoryOf } from '../../src/repository/open.ts';
import { moveRefs } from '../../src/repository/move_refs.ts';
import { zeroOid } from '../../src/git/protocol_types.ts';
import { type Repository, type RepositoryPlace, placeColumns } from '../../src/git/repository.ts';

export type Files = { [path: string]: string | null };

/** Where the repository of a project lies. */
export const placeOf = async ({ service }: TestService, projectId: number): Promise<RepositoryPlace> =>
  await service.platform.store.db
    .selectFrom('projects')
    .select(['projects.id', ...placeColumns])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow();

/** The repository of a project, as it stands now. */
export const openRepository = async (gantry: TestService, projectId: number): Promise<Repository> =>
  repositoryOf(gantry.service.platform, await placeOf(gantry, projectId));

const signature = { name: 'Ada Lovelace', email: 'ada@example.com', time: 1_500_000_000, offset: '+0000' };

export type SeedCommitOptions = {
  branch?: string;
  /** The branch that a new one begins at. */
  from?: string;
  onto?: string | null;
  message?: string;
  /** Id of the user who does it. Default: root. */
  by?: number;
};

/**
 * Writes files (null: takes one away) in one commit to a branch, which is made where it is missing.
 * @param onto the commit to put it on, where that is not the branch's last one: a force push
 * @returns the commit's id
 */
export const seedCommit = async (
  gantry: TestService,
  projectId: number,
  files: Files,
  { branch = 'main', from, onto, message, by = 1 }: SeedCommitOptions = {},
): Promise<string> => {
  const { platform } = gantry.service;
  const project = await placeOf(gantry, projectId);
  const repository = repositoryOf(platform, project);
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
  const known = new Set(tree?.entries.map(({ path }) => path) ?? []);
  const parts: Buffer[] = [];
  let offset = 0;
  const actions = Object.entries(files).map(([file_path, text]) => {
    if (text === null) return { action: 'delete' as const, file_path };
    const bytes = Buffer.from(text);
    const content = { offset, length: bytes.length };
    parts.push(bytes);
    offset += bytes.length;
    return { action: known.has(file_path) ? ('update' as const) : ('create' as const), file_path, content };
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
