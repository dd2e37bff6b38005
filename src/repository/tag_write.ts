import { type Call, actorOf, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { type Failure, conflict, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Ref, zeroOid } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { changeRefs, requireTagging, retrying, signatureOf } from './change_refs.ts';
import type { Code } from './code.ts';
import { protectedTags } from './protected.ts';
import { findRef, refusal, resolveRevision, tagPrefix } from './resolve.ts';

export type WantedTag = {
  tag: string;
  /** What it names: a branch, a tag or a commit. */
  from: string;
  /** With one, the tag is an object of its own. */
  message?: string | undefined;
};

const bad = (message: string): Failure => refusal('bad_request', message);

/** A message with at least one line, ended as git ends it. */
const messageOf = (message: string | undefined): string | null =>
  message === undefined || message.trim() === '' ? null : `${message.trimEnd()}\n`;

/**
 * Makes a tag; answers once it is durable.
 * @throws Failure 400 in GitLab's words, 403 for who may not make a tag of this name
 */
export const createTag = async (call: Call, code: Code, { tag, from, message }: WantedTag): Promise<Ref> => {
  const { project, repository } = code;
  const name = tagPrefix + tag;
  requireTagging(call, tag)(project, await protectedTags(call.db, project.id));
  const taken = bad(`Tag ${tag} already exists`);
  if ((await findRef(repository, name)) !== null) throw taken;
  const target = await resolveRevision(code, from);
  if (target === null) throw bad(`Target ${from} is invalid`);
  const text = messageOf(message);
  try {
    const tagger = signatureOf(call, userOf(call));
    const made =
      text === null
        ? { id: target.commit }
        : await repository.ask('tag.create', { name: tag, target: target.commit, message: text, tagger });
    const updates = [{ ref: name, old: zeroOid, new: made.id }];
    await changeRefs(call, { project, kind: 'branch', updates, tags: requireTagging(call, tag) });
  } catch (error) {
    if (isGitFailure(error, 'invalid')) throw bad('Tag name invalid');
    if (!isGitFailure(error, 'conflict')) throw error;
    throw (await findRef(repository, name)) === null ? bad('Tag name invalid') : taken;
  }
  const ref = await findRef(repository, name);
  if (ref === null) throw notFound('Tag');
  return ref;
};

/** @throws Failure 404 where there is none, 403 for who may not take it away */
export const deleteTag = async (call: Call, { project, repository }: Code, tag: string): Promise<void> =>
  await retrying(async () => {
    const name = tagPrefix + tag;
    const ref = await findRef(repository, name);
    if (ref === null) throw notFound('Tag');
    const updates = [{ ref: name, old: ref.target, new: zeroOid }];
    await changeRefs(call, { project, kind: 'branch', updates, tags: requireTagging(call, tag) });
  });

type Told = { kind: string; project_id: number; tag: string };

const tell = async (tx: Tx, call: Call, { kind, project_id, tag }: Told): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind,
    project_id,
    target_type: 'Project',
    target_id: project_id,
    data: { tag },
  });

/** @throws Failure 409 where the tag has a release */
export const addRelease = async (
  call: Call,
  project: Project,
  { name, commit }: Ref,
  description: string,
): Promise<void> =>
  await call.write(async (tx) => {
    const tag = name.slice(tagPrefix.length);
    const known = await tx.db
      .selectFrom('releases')
      .select('id')
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .executeTakeFirst();
    if (known !== undefined) throw conflict('Release already exists');
    await insertRow(tx.db, 'releases', {
      project_id: project.id,
      tag,
      name: null,
      description,
      sha: commit,
      author_id: userOf(call).id,
      created_at: tx.now,
      released_at: tx.now,
    });
    await tell(tx, call, { kind: 'release.created', project_id: project.id, tag });
  });

/** @throws Failure 404 where the tag has no release */
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
      .returning('id')
      .executeTakeFirst();
    if (changed === undefined) throw refusal('not_found', 'Release does not exist');
    await tell(tx, call, { kind: 'release.updated', project_id: project.id, tag });
  });
