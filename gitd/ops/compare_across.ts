/** Compares commits of two repositories without copying objects between them. */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, MethodHandler } from '../handler_types.ts';
import { diffFiles } from '../diff/diff_handlers.ts';
import type { Methods } from '../protocol.ts';
import { getMergeBase } from '../commits/ancestry.ts';
import { listCommits } from '../commits/list_commits.ts';
import { fillRepository } from '../storage/create_repository.ts';
import { resolveRepositoryPath, getConstructionFolder } from '../disk/storage_paths.ts';

/** Runs `work` in a temporary repository that borrows the objects of both. The janitor removes it after a crash. */
const withBoth = async <T>(
  context: Context,
  source: string,
  work: (both: Context) => Promise<T>,
): Promise<T> => {
  const { root, pools } = context;
  const dir = join(getConstructionFolder(root), `${randomBytes(8).toString('hex')}.git`);
  const folders = [context.dir, resolveRepositoryPath(root, source)].map(
    (one) => `${join(one, 'objects')}\n`,
  );
  try {
    await fillRepository(dir);
    await writeFile(join(dir, 'objects/info/alternates'), folders.join(''));
    return await work({ ...context, dir });
  } finally {
    await pools.endWorkers(dir);
    await rm(dir, { recursive: true, force: true });
  }
};

const compare = async (
  { from, to, straight, limit, repository, ...options }: Methods['compare.across']['params'],
  both: Context,
): Promise<Methods['compare.across']['result']> => {
  const none = Buffer.alloc(0);
  const ids = { repository, ids: [from, to] };
  const base = straight ? from : (await getMergeBase(ids, both, none)).result.id;
  const walk = { repository, from: [to], not: [from], skip: 0, limit };
  const { commits } = (await listCommits(walk, both, none)).result;
  if (base === null) return { commits, base, diffs: [], files: 0, overflow: false };
  const diff = (await diffFiles({ ...options, repository, from: base, to }, both, none)).result;
  return { commits, base, ...diff };
};

export const compareAcross: MethodHandler<'compare.across'> = async (params, context) => ({
  result: await withBoth(context, params.source, async (both) => await compare(params, both)),
});
