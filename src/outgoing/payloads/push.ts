/** Pushes of branches and tags. */
import { isGitFailure } from '../../platform/git/failure.ts';
import { type Ref, zeroOid } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import type { ProjectFacts } from '../changes/snapshots/snapshot.ts';
import { getActor, placeJson, userJson } from './shared_payload_parts.ts';
import { orMissing, pushedCommitJson, getContextRepository } from './commits.ts';
import type { Context, Payload } from './context.ts';
import { groupPushOptions } from './push_options.ts';

const maxCommits = 20;

type Update = { ref: string; before: string; after: string };

/** The commits of a push, oldest first, at most 20, and how many there are. */
const loadPushedCommits = async (
  context: Context,
  project: ProjectFacts,
  { ref, before, after }: Update,
): Promise<{ commits: unknown[]; total: number }> => {
  const none = { commits: [], total: 0 };
  if (after === zeroOid || !ref.startsWith('refs/heads/')) return none;
  const isDefault = ref === `refs/heads/${project.default_branch}`;
  const repository = getContextRepository(context, project);
  const loadStart = async (): Promise<string[]> => {
    if (before !== zeroOid) return [before];
    if (isDefault || project.default_branch === null) return [];
    const { branch_base } = context.snapshot.unlogged;
    if (branch_base !== undefined) return branch_base === null ? [] : [branch_base];
    const name = `refs/heads/${project.default_branch}`;
    const { refs } = await repository.ask('refs.get', { names: [name] });
    return refs.flatMap((one) => (one?.commit ? [one.commit] : []));
  };
  const not = await orMissing(loadStart(), []);
  const reading = repository.ask('commits.list', {
    from: [after],
    not,
    skip: 0,
    limit: maxCommits,
    count: true,
  });
  const { commits, total } = await orMissing(reading, { commits: [], total: 0 });
  const listed = [];
  for (const commit of commits.toReversed()) listed.push(await pushedCommitJson(context, project, commit));
  return { commits: listed, total: total ?? listed.length };
};

/** Reads an annotated tag by id; null: a plain one. A gitd without this method is asked for the ref. */
export const readTag = async (
  repository: Repository,
  { ref, after }: Pick<Update, 'ref' | 'after'>,
): Promise<Pick<Ref, 'commit' | 'message'> | null> => {
  try {
    return await repository.ask('tags.get', { id: after });
  } catch (error) {
    if (!isGitFailure(error, 'invalid')) throw error;
    const { refs } = await repository.ask('refs.get', { names: [ref] });
    const tag = refs[0] ?? null;
    return tag?.target === after ? tag : null;
  }
};

/** The message of an annotated tag; null: a plain one. Read by id: the tag may have been moved or deleted since. */
const loadTagMessage = async (
  context: Context,
  project: ProjectFacts,
  { ref, after }: Update,
): Promise<{ message: string | null; commit: string | null }> => {
  const none = { message: null, commit: after === zeroOid ? null : after };
  if (after === zeroOid || !ref.startsWith('refs/tags/')) return none;
  const tag = await orMissing(readTag(getContextRepository(context, project), { ref, after }), null);
  return tag === null ? none : { message: tag.message, commit: tag.commit ?? after };
};

export const pushPayload = async (context: Context): Promise<Payload> => {
  const { snapshot } = context;
  const { project } = snapshot;
  const { before, after, ref } = snapshot.data as Update;
  const actor = getActor(context);
  const user = userJson(context, actor);
  if (project === null) return {};
  const name = snapshot.payload === 'push' ? 'push' : 'tag_push';
  const { commits, total } = await loadPushedCommits(context, project, { ref, before, after });
  const { message, commit } = await loadTagMessage(context, project, { ref, before, after });
  return {
    object_kind: name,
    event_name: name,
    before,
    after,
    ref,
    ref_protected: snapshot.is_ref_protected ?? false,
    checkout_sha: commit,
    message,
    user_id: user.id,
    user_name: user.name,
    user_username: user.username,
    user_email: actor.email,
    user_avatar: user.avatar_url,
    project_id: project.id,
    ...placeJson(context),
    commits,
    total_commits_count: total,
    push_options: groupPushOptions(snapshot.unlogged.push_options ?? []),
  };
};

/** All refs of one push, for hooks that ask for `repository_update`. */
export const repositoryUpdatePayload = (context: Context): Payload => {
  const { snapshot } = context;
  const user = userJson(context, getActor(context));
  const { refs } = snapshot.data as { refs: Update[] };
  return {
    event_name: 'repository_update',
    object_kind: 'repository_update',
    user_id: user.id,
    user_name: user.name,
    user_email: user.email,
    user_avatar: user.avatar_url,
    project_id: snapshot.project?.id ?? null,
    ...placeJson(context),
    changes: refs.map(({ before, after, ref }) => ({ before, after, ref })),
    refs: refs.map(({ ref }) => ref),
  };
};
