/** Sizes of binary files before and after a change. */
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../../platform/git/repository.ts';
import { formatBytes } from '../../../../../platform/format_bytes.ts';

/** Sizes of blobs in bytes, by their ids. */
export type BlobSizes = ReadonlyMap<Oid, number>;

/** Binary files of one page whose sizes are shown. */
const maxFiles = 200;

/** Returns no sizes if the storage is older than this call, as while its program is replaced. */
const readSizes = async (repository: Repository, ids: Oid[]): Promise<(number | null)[]> => {
  try {
    return (await repository.ask('blob.sizes', { ids })).sizes;
  } catch (error) {
    if (isGitFailure(error, 'invalid')) return [];
    throw error;
  }
};

/** Reads the sizes of the binary files of a diff in one call; none without such files. */
export const readBinarySizes = async (
  repository: Repository,
  files: readonly FileDiff[],
): Promise<BlobSizes> => {
  const binary = files.filter((file) => file.binary).slice(0, maxFiles);
  const ids = [
    ...new Set(
      binary.flatMap(({ old_id, new_id, new_file, deleted_file }) => [
        ...(new_file ? [] : [old_id]),
        ...(deleted_file ? [] : [new_id]),
      ]),
    ),
  ];
  if (ids.length === 0) return new Map();
  const sizes = await readSizes(repository, ids);
  return new Map(
    ids.flatMap((id, at) => {
      const size = sizes[at] ?? null;
      return size === null ? [] : [[id, size] as const];
    }),
  );
};

/** Returns the formatted sizes of a file on both sides; null if the side does not exist or was not read. */
export const sizesOf = (
  { old_id, new_id }: FileDiff,
  sizes: BlobSizes,
): { old: string | null; fresh: string | null } => {
  const format = (id: Oid): string | null => {
    const size = sizes.get(id);
    return size === undefined ? null : formatBytes(size);
  };
  return { old: format(old_id), fresh: format(new_id) };
};
