import { type Call, requireUser } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import { type Failure, conflict, notFound } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type Ref, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { changeRefs, requireTagPermission, retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { getGitIdentity } from '../refs/git_identity.ts';
import type { Code } from '../find_code.ts';
import { loadProtectedTags } from '../protection/rules.ts';
import { findRef, refusal, resolveRevision, tagPrefix } from '../refs/resolve.ts';
import { recordReleaseEvent } from './record_release_event.ts';

export type TagRequest = {
  tag: string;
  /** The revision to tag: a branch, a tag or a commit. */
  from: string;
  /** Message of an annotated tag; absent: a lightweight tag. */
  message?: string | undefined;
  /** Creates a release with this description. */
  release_description?: string | undefined;
};

const bad = (message: string): Failure => refusal('bad_request', message);

/** Returns the message with one trailing newline, as git stores it; null if it is blank. */
const normalizeMessage = (message: string | undefined): string | null =>
  message === undefined || message.trim() === '' ? null : `${message.trimEnd()}\n`;

/** Creates the tag itself. */
const createTagRef = async (call: Call, code: Code, { tag, from, message }: TagRequest): Promise<Ref> => {
  const { project, repository } = code;
  const name = tagPrefix + tag;
  requireTagPermission(call, tag)(project, await loadProtectedTags(call.db, project.id));
  const taken = bad(`Tag ${tag} already exists`);
  if ((await findRef(repository, name)) !== null) throw taken;
  const target = await resolveRevision(code, from);
  if (target === null) throw bad(`Target ${from} is invalid`);
  const text = normalizeMessage(message);
  try {
    const tagger = getGitIdentity(call, requireUser(call));
    const created =
      text === null
        ? { id: target.commit }
        : await repository.ask('tag.create', { name: tag, target: target.commit, message: text, tagger });
    const updates = [{ ref: name, old: zeroOid, new: created.id }];
    await changeRefs(call, { project, kind: 'branch', updates, tags: requireTagPermission(call, tag) });
  } catch (error) {
    if (isGitFailure(error, 'invalid')) throw bad('Tag name invalid');
    if (!isGitFailure(error, 'conflict')) throw error;
    throw (await findRef(repository, name)) === null ? bad('Tag name invalid') : taken;
  }
  const ref = await findRef(repository, name);
  if (ref === null) throw notFound('Tag');
  return ref;
};

/** @throws Failure 404 if it does not exist, 403 without permission to delete it */
export const deleteTag = async (call: Call, { project, repository }: Code, tag: string): Promise<void> =>
  await retryOnConflict(async () => {
    const name = tagPrefix + tag;
    const ref = await findRef(repository, name);
    if (ref === null) throw notFound('Tag');
    const updates = [{ ref: name, old: ref.target, new: zeroOid }];
    await changeRefs(call, { project, kind: 'branch', updates, tags: requireTagPermission(call, tag) });
  });

/** @throws Failure 409 if the tag has a release */
export const addRelease = async (
  call: Call,
  project: Project,
  { name, commit }: Ref,
  description: string,
): Promise<void> =>
  await call.write(async (tx) => {
    const tag = name.slice(tagPrefix.length);
    const existing = await tx.db
      .selectFrom('releases')
      .select('id')
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .executeTakeFirst();
    if (existing !== undefined) throw conflict('Release already exists');
    const release = {
      project_id: project.id,
      tag,
      name: null,
      description,
      sha: commit,
      author_id: requireUser(call).id,
      created_at: tx.now,
      released_at: tx.now,
    };
    const id = await insertRow(tx.db, 'releases', release);
    await recordReleaseEvent(tx, call, 'release.created', { id, ...release });
  });

/**
 * Creates a tag, and its release if there is a description. Returns once it is durable.
 * @throws Failure 400 with GitLab's message, 403 without permission to create a tag of this name
 */
export const createTag = async (call: Call, code: Code, request: TagRequest): Promise<Ref> => {
  const ref = await createTagRef(call, code, request);
  const { release_description: description = '' } = request;
  if (description !== '') await addRelease(call, code.project, ref, description);
  return ref;
};

/** @throws Failure 404 if the tag has no release */
export const changeRelease = async (
  call: Call,
  project: Project,
  tag: string,
  description: string,
): Promise<void> =>
  await call.write(async (tx) => {
    const changed = await tx.db
      .updateTable('releases')
      .set({ description })
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw refusal('not_found', 'Release does not exist');
    await recordReleaseEvent(tx, call, 'release.updated', changed);
  });
