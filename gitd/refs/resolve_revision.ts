import type { Context, MethodHandler } from '../handler_types.ts';
import type { Oid, Sight } from '../protocol_records.ts';
import { findForbiddenWant } from './check_wants.ts';
import { peel, readTarget } from './read_refs.ts';
import { isReachable } from './check_reachable.ts';

type Resolved = { commit: Oid; ref: string | null };

const fromRef = async (context: Context, ref: string): Promise<Resolved | null> => {
  const target = await readTarget(context, ref);
  const commit = target === null ? null : await peel(context, target);
  return commit === null ? null : { commit, ref };
};

const fromId = async ({ pools, dir }: Context, id: string): Promise<Resolved | null> => {
  const object = await pools.catFile.info(dir, `${id.toLowerCase()}^{commit}`);
  return object?.type === 'commit' ? { commit: object.id, ref: null } : null;
};

/** Resolves a short id. Short ids are easy to guess, so only commits reachable from visible refs match. */
const fromShortId = async (context: Context, id: string, hideRequests: boolean): Promise<Resolved | null> => {
  const resolved = await fromId(context, id);
  if (resolved === null) return null;
  return (await findForbiddenWant(context, [resolved.commit], {
    requests: hideRequests,
    pipelines: true,
  })) === null
    ? resolved
    : null;
};

const fromWholeId = async (context: Context, id: string, sight: Sight): Promise<Resolved | null> => {
  const resolved = await fromId(context, id);
  return resolved !== null && (await isReachable(context, resolved.commit, sight)) ? resolved : null;
};

const isHidden = (ref: string, hideRequests: boolean): boolean =>
  /^refs\/(?:keep-around|pipelines|tmp)\//.test(ref) ||
  (hideRequests && ref.startsWith('refs/merge-requests/'));

/**
 * Resolves what a user entered, the first of: a full id, `HEAD`, a full ref, a branch, a tag, a short id. Does not
 * take git's revision expressions: they walk histories.
 */
export const resolveRevision: MethodHandler<'revision.resolve'> = async (params, context) => {
  const { revision, default_ref: defaultRef, hide_requests: hideRequests = false } = params;
  const attempts: (() => Promise<Resolved | null>)[] = [];
  if (/^[0-9a-f]{40}$/i.test(revision))
    attempts.push(async () => await fromWholeId(context, revision, params));
  if (revision === 'HEAD') {
    if (typeof defaultRef === 'string') attempts.push(async () => await fromRef(context, defaultRef));
  } else {
    const names = [`refs/heads/${revision}`, `refs/tags/${revision}`];
    if (revision.startsWith('refs/') && !isHidden(revision, hideRequests)) names.unshift(revision);
    attempts.push(...names.map((name) => async () => await fromRef(context, name)));
  }
  if (/^[0-9a-f]{4,39}$/i.test(revision))
    attempts.push(async () => await fromShortId(context, revision, hideRequests));
  for (const attempt of attempts) {
    const resolved = await attempt();
    if (resolved !== null) return { result: resolved };
  }
  return { result: null };
};
