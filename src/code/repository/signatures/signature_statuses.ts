/** Verifies the signatures of the commits and tags of a list. */
import type { Call } from '../../../core/access/call.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import type { Commit, Oid, Ref } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { Code } from '../find_code.ts';
import { type CommitSignature, loadCommitSignature, loadTagSignature } from './commit_signature.ts';

export type SignatureStatus = CommitSignature['status'];

/** Milliseconds after which a signature is verified again: keys are added and removed. */
const maxAge = 60_000;
const concurrency = 4;

type Kept = { status: SignatureStatus | null; until: number };

const kept = makeLruCache<Kept>(20_000, () => 1);

type Load = () => Promise<CommitSignature | null>;

/** Loads the status of a signed object; a status of the last minute may be reused. */
const loadStatus = async ({ repository }: Code, id: Oid, load: Load): Promise<SignatureStatus | null> => {
  const key = `${repository.storage} ${repository.path} ${id}`;
  const cached = kept.get(key);
  if (cached !== undefined && performance.now() < cached.until) return cached.status;
  const status = (await load())?.status ?? null;
  kept.set(key, { status, until: performance.now() + maxAge });
  return status;
};

/** Loads the statuses of signed commits by their id. */
export const loadSignatureStatuses = async (
  call: Call,
  code: Code,
  commits: readonly Commit[],
): Promise<ReadonlyMap<Oid, SignatureStatus>> => {
  const statuses = new Map<Oid, SignatureStatus>();
  const signed = commits.filter((commit) => commit.signed === true);
  await forEachConcurrently(signed, concurrency, async (commit) => {
    const load: Load = async () => await loadCommitSignature(call, code, commit);
    const status = await loadStatus(code, commit.id, load);
    if (status !== null) statuses.set(commit.id, status);
  });
  return statuses;
};

const signatureStart = /^-----BEGIN (?:PGP|SSH) SIGNATURE-----$/m;

/** Returns whether the message of an annotated tag ends with a signature. */
export const isSignedMessage = (message: string | null): boolean =>
  message !== null && signatureStart.test(message);

/** Returns the message of a tag without its signature. */
export const withoutSignature = (message: string): string => {
  const start = [...message.matchAll(new RegExp(signatureStart, 'gm'))].at(-1)?.index;
  return start === undefined ? message : message.slice(0, start).trimEnd();
};

/** Loads the statuses of signed tags by the id of the tag object. */
export const loadTagSignatureStatuses = async (
  call: Call,
  code: Code,
  tags: readonly Ref[],
): Promise<ReadonlyMap<Oid, SignatureStatus>> => {
  const statuses = new Map<Oid, SignatureStatus>();
  const signed = tags.filter(({ message }) => isSignedMessage(message));
  await forEachConcurrently(signed, concurrency, async (tag) => {
    const load: Load = async () => await loadTagSignature(call, code, tag);
    const status = await loadStatus(code, tag.target, load);
    if (status !== null) statuses.set(tag.target, status);
  });
  return statuses;
};
