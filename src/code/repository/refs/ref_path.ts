/** Splits the end of an address of a page, such as `feature/x/src/main.ts`, into a ref and a path. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { branchPrefix, loadRefs, resolveRevision, tagPrefix } from './resolve.ts';
import { trimSlashes } from '../../../platform/trim.ts';

export type RefPath = {
  /** As written in the URL: a branch, a tag, `HEAD` or an id. */
  ref: string;
  commit: Oid;
  /** Without slashes at its ends; empty: the root. */
  path: string;
  kind: 'branch' | 'tag' | 'commit';
};

/** Maximum segments of a ref; longer refs are reachable by their commit id. */
const maxRefSegments = 20;

type Candidate = { ref: string; name: string; kind: 'branch' | 'tag' };

/** Returns the full names that a ref could have. A branch comes before a tag of the same name. */
const candidatesFor = (ref: string): Candidate[] => {
  if (ref.startsWith(branchPrefix)) return [{ ref, name: ref, kind: 'branch' }];
  if (ref.startsWith(tagPrefix)) return [{ ref, name: ref, kind: 'tag' }];
  return [
    { ref, name: branchPrefix + ref, kind: 'branch' },
    { ref, name: tagPrefix + ref, kind: 'tag' },
  ];
};

/** Finds the longest branch or tag that the text starts with, with one request. */
const findLongestRef = async ({ repository }: Code, segments: readonly string[]): Promise<RefPath | null> => {
  const lengths = segments.slice(0, maxRefSegments).map((_segment, at) => at + 1);
  const candidates = lengths
    .toReversed()
    .flatMap((length) =>
      candidatesFor(segments.slice(0, length).join('/')).map((one) => ({ ...one, length })),
    );
  const refs = await loadRefs(
    repository,
    candidates.map(({ name }) => name),
  );
  for (const [at, { ref, kind, length }] of candidates.entries()) {
    const commit = refs[at]?.commit ?? null;
    if (commit !== null) return { ref, commit, kind, path: segments.slice(length).join('/') };
  }
  return null;
};

/**
 * Resolves what follows the noun in an address. A full commit id and `HEAD` come first, then the longest branch or tag,
 * then a short commit id; null: nothing matches.
 */
export const resolveRefPath = async (code: Code, text: string): Promise<RefPath | null> => {
  const segments = trimSlashes(text).split('/');
  const [first = '', ...others] = segments;
  const byRevision = async (): Promise<RefPath | null> => {
    const resolved = await resolveRevision(code, first);
    return resolved === null
      ? null
      : { ref: first, commit: resolved.commit, path: others.join('/'), kind: 'commit' };
  };
  if (first === 'HEAD' || /^[0-9a-f]{40}$/i.test(first)) {
    const resolved = await byRevision();
    if (resolved !== null) return resolved;
  }
  const longest = await findLongestRef(code, segments);
  if (longest !== null) return longest;
  return /^[0-9a-f]{4,39}$/i.test(first) ? await byRevision() : null;
};
