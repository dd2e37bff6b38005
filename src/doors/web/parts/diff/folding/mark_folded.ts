/** Marks the files of a diff that a `.gitattributes` of its newer commit folds. */
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../../platform/git/repository.ts';
import { makeLruCache } from '../../../../../platform/lru_cache.ts';
import type { ShownDiff } from './collapse_reason.ts';
import { listFolders } from './list_folders.ts';
import { type Attributes, type FolderAttributes, findFolding, parseAttributes } from './gitattributes.ts';

/** Limits of what is read for one diff. */
const limits = { max_files: 50, max_bytes: 64 * 1024 };
/** Folders to search for the file; folders nearest to the root come first. */
const maxFolders = 500;
/** Steps of matching for one diff: about 50 milliseconds. */
const maxSteps = 20_000_000;

/** Attributes by commit and folder; null: the folder has no `.gitattributes`. The files of a commit never change. */
const attributesByFolder = makeLruCache<Attributes | null>(20_000, () => 1);
/** Attributes by the id of their blob, which many commits share. */
const attributesByBlob = makeLruCache<Attributes>(500, () => 1);

const parseBlob = (id: Oid, text: string): Attributes => {
  const shared = attributesByBlob.get(id);
  if (shared !== undefined) return shared;
  const attributes = parseAttributes(text);
  attributesByBlob.set(id, attributes);
  return attributes;
};

/** Reads the files of folders that are not cached, with one call. */
const readUnknown = async (
  repository: Repository,
  commit: Oid,
  folders: readonly string[],
): Promise<void> => {
  const key = keyOf(repository, commit);
  const unknown = folders.filter((folder) => attributesByFolder.get(key(folder)) === undefined);
  if (unknown.length === 0) return;
  const { result, body } = await repository.read('tree.attributes', { commit, folders: unknown, ...limits });
  // Reading stops once there are enough files: nothing is known of the other folders.
  for (const folder of unknown.slice(0, result.read)) attributesByFolder.set(key(folder), null);
  for (const { folder, id, content } of result.files) {
    const text = body.toString('utf8', content.offset, content.offset + content.length);
    attributesByFolder.set(key(folder), parseBlob(id, text));
  }
};

const keyOf =
  ({ storage, path }: Repository, commit: Oid) =>
  (folder: string): string =>
    `${storage} ${path} ${commit} ${folder}`;

const loadAttributes = async (
  repository: Repository,
  commit: Oid,
  folders: readonly string[],
): Promise<FolderAttributes[]> => {
  try {
    await readUnknown(repository, commit, folders);
  } catch (error) {
    // Without its attributes, a diff is still worth showing.
    if (!isGitFailure(error)) throw error;
  }
  const key = keyOf(repository, commit);
  return folders.flatMap((folder) => {
    const attributes = attributesByFolder.get(key(folder)) ?? null;
    return attributes === null || attributes.rules.length === 0 ? [] : [{ folder, attributes }];
  });
};

/** @param commit after the changes */
export const markFolded = async (
  repository: Repository,
  commit: Oid,
  files: readonly FileDiff[],
): Promise<ShownDiff[]> => {
  if (files.length === 0) return [];
  const attributes = await loadAttributes(
    repository,
    commit,
    listFolders(
      files.map(({ new_path }) => new_path),
      maxFolders,
    ),
  );
  if (attributes.length === 0) return [...files];
  const budget = { left: maxSteps };
  return files.map((file) => {
    const folding = findFolding(attributes, file.new_path, budget);
    return folding === null ? file : { ...file, folding };
  });
};
