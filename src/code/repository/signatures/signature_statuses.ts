/** Verifies the signatures of the commits of a list. */
import type { Call } from '../../../core/access/call.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import type { Commit, Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { Code } from '../find_code.ts';
import { type CommitSignature, loadCommitSignature } from './commit_signature.ts';

export type SignatureStatus = CommitSignature['status'];

/** Milliseconds after which a signature is verified again: keys are added and removed. */
const maxAge = 60_000;
const concurrency = 4;

type Kept = { status: SignatureStatus | null; until: number };

const kept = makeLruCache<Kept>(20_000, () => 1);

/** Loads the statuses of signed commits by their id; those of the last minute may be shown again. */
export const loadSignatureStatuses = async (
  call: Call,
  code: Code,
  commits: readonly Commit[],
): Promise<ReadonlyMap<Oid, SignatureStatus>> => {
  const statuses = new Map<Oid, SignatureStatus>();
  const signed = commits.filter((commit) => commit.signed === true);
  await forEachConcurrently(signed, concurrency, async (commit) => {
    const key = `${code.repository.storage} ${code.repository.path} ${commit.id}`;
    const cached = kept.get(key);
    if (cached !== undefined && performance.now() < cached.until) {
      if (cached.status !== null) statuses.set(commit.id, cached.status);
      return;
    }
    const status = (await loadCommitSignature(call, code, commit))?.status ?? null;
    kept.set(key, { status, until: performance.now() + maxAge });
    if (status !== null) statuses.set(commit.id, status);
  });
  return statuses;
};
