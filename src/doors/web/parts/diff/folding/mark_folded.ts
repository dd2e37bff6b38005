/** Marks the files of a diff that the `.gitattributes` of its newer commit folds. */
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../../platform/git/repository.ts';
import { makeLruCache } from '../../../../../platform/lru_cache.ts';
import type { ShownDiff } from './collapse_reason.ts';
import { type Attributes, findFolding, parseAttributes } from './gitattributes.ts';

const maxBytes = 64 * 1024;
/** Steps of matching for one diff: about 50 milliseconds. */
const maxSteps = 20_000_000;

/** The attributes of commits; null: they have none. They never change. */
const ofCommits = makeLruCache<Attributes | null>(2_000, () => 1);
/** The attributes by the id of their blob, which many commits share. */
const ofBlobs = makeLruCache<Attributes>(100, () => 1);

const readAttributes = async (repository: Repository, commit: Oid): Promise<Attributes | null> => {
  const location = { commit, path: '.gitattributes', max: maxBytes };
  const { result, body } = await repository.read('blob.at', location);
  if (result === null || !result.whole) return null;
  const shared = ofBlobs.get(result.id);
  if (shared !== undefined) return shared;
  const attributes = parseAttributes(body.toString('utf8'));
  ofBlobs.set(result.id, attributes);
  return attributes;
};

const loadAttributes = async (repository: Repository, commit: Oid): Promise<Attributes | null> => {
  const key = `${repository.storage} ${repository.path} ${commit}`;
  const cached = ofCommits.get(key);
  if (cached !== undefined) return cached;
  try {
    const attributes = await readAttributes(repository, commit);
    ofCommits.set(key, attributes);
    return attributes;
  } catch (error) {
    // Without its attributes, a diff is still worth showing.
    if (isGitFailure(error)) return null;
    throw error;
  }
};

/** @param commit after the changes */
export const markFolded = async (
  repository: Repository,
  commit: Oid,
  files: readonly FileDiff[],
): Promise<ShownDiff[]> => {
  const attributes = files.length === 0 ? null : await loadAttributes(repository, commit);
  if (attributes === null || attributes.rules.length === 0) return [...files];
  const budget = { left: maxSteps };
  return files.map((file) => {
    const folding = findFolding(attributes, file.new_path, budget);
    return folding === null ? file : { ...file, folding };
  });
};
