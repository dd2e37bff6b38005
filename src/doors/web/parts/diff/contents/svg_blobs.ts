/** Finds changed SVG images, which diffs show as images next to their lines. */
import { isShownSvg, isSvgFile } from '../../../pages/blob/blob_kind.ts';
import { forEachConcurrently } from '../../../../../platform/for_each_concurrently.ts';
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../../platform/git/repository.ts';
import { maxSvgBytes } from '../../../../../platform/http/svg.ts';

/** Files of one page that are shown as images. */
const maxFiles = 20;

/** Blobs that are read at the same time. */
const maxReads = 4;

const isImage = async (repository: Repository, path: string, id: Oid): Promise<boolean> => {
  const { result, body } = await repository.read('blob.get', { id, max: maxSvgBytes });
  return result !== null && result.whole && isShownSvg(path, body);
};

/**
 * Returns the ids of the blobs of changed files that browsers show as images, as pages of files do.
 * @param files those whose lines are shown: others show no images
 */
export const readSvgBlobs = async (
  repository: Repository,
  files: readonly FileDiff[],
): Promise<ReadonlySet<Oid>> => {
  const sides = files
    .filter(({ old_path, new_path, binary }) => !binary && isSvgFile(old_path) && isSvgFile(new_path))
    .slice(0, maxFiles)
    .flatMap(({ old_id, new_id, old_path, new_path, new_file, deleted_file }) => [
      ...(new_file ? [] : [{ path: old_path, id: old_id }]),
      ...(deleted_file ? [] : [{ path: new_path, id: new_id }]),
    ]);
  const found = new Set<Oid>();
  await forEachConcurrently(sides, maxReads, async ({ path, id }) => {
    if (await isImage(repository, path, id)) found.add(id);
  });
  return found;
};
