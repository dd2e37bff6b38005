import type { Context, MethodHandler } from '../context.ts';
import type { Oid, Sight } from '../protocol.ts';
import { forbiddenWant } from '../transport/wants.ts';
import { peel, targetOf } from './get.ts';
import { isReachable } from './reachable.ts';

type Resolved = { commit: Oid; ref: string | null };

const fromRef = async (context: Context, ref: string): Promise<Resolved | null> => {
  const target = await targetOf(context, ref);
  const commit = target === null ? null : await peel(context, target);
  return commit === null ? null : { commit, ref };
};

const fromId = async ({ pools, dir }: Context, id: string): Promise<Resolved | null> => {
  const found = await pools.catFile.info(dir, `${id.toLowerCase()}^{commit}`);
  return found?.type === 'commit' ? { commit: found.id, ref: null } : null;
};

/**
 * By a part of its id. Few letters are soon tried out: they name what refs lead to, not what was taken away, nor
 * what a hidden ref keeps.
 */
const fromShortId = async (context: Context, id: string, hideRequests: boolean): Promise<Resolved | null> => {
  const found = await fromId(context, id);
  if (found === null) return null;
  return (await forbiddenWant(context, [found.commit], { requests: hideRequests, pipelines: true })) === null
    ? found
    : null;
};

const fromWholeId = async (context: Context, id: string, sight: Sight): Promise<Resolved | null> => {
  const found = await fromId(context, id);
  return found !== null && (await isReachable(context, found.commit, sight)) ? found : null;
};

const isHidden = (ref: string, hideRequests: boolean): boolean =>
  /^refs\/(?:keep-around|pipelines|tmp)\//.test(ref) ||
  (hideRequests && ref.startsWith('refs/merge-requests/'));

/**
 * What a user calls a commit: a whole id, `HEAD`, a full ref, a branch, a tag, a short id; whichever it is first.
 * None of git's own expressions: they walk histories.
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
    // oxlint-disable-next-line no-await-in-loop -- the first one counts
    const found = await attempt();
    if (found !== null) return { result: found };
  }
  return { result: null };
};
