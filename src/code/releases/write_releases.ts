import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { Failure, conflict, notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record.ts';
import type { Ref } from '../../platform/git/protocol_types.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import { requireTagPermission } from '../repository/refs/change_refs.ts';
import type { Code } from '../repository/code.ts';
import { loadProtectedTags } from '../repository/protection/rules.ts';
import { findRef, tagPrefix } from '../repository/refs/resolve.ts';
import { createTag } from '../repository/tags/change_tags.ts';
import type { ReleaseRow } from './json.ts';
import { type Link, addLink } from './links.ts';
import { setMilestones } from './milestones.ts';
import { findRelease, loadRelease } from './find_releases.ts';

export type NewRelease = {
  tag: string;
  name: string | null;
  description: string | null;
  /** Branch, tag or commit that a missing tag is created from. */
  ref: string | null;
  tag_message: string | null;
  released_at: number | null;
  links: Link[];
  milestone_ids: number[];
};

const alreadyExists = () => conflict('Release already exists');

const recordReleaseEvent = async (
  tx: Tx,
  call: Call,
  kind: string,
  { id, project_id, tag }: ReleaseRow,
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind,
    project_id,
    target_type: 'Release',
    target_id: id,
    data: { tag },
  });

/** Requires permission to create the tag, if it is protected. @throws Failure 403 */
export const requireReleaser = async (call: Call, { project }: Code, tag: string): Promise<void> =>
  requireTagPermission(call, tag)(project, await loadProtectedTags(call.db, project.id));

const findTag = async ({ repository }: Code, tag: string): Promise<Ref | null> =>
  await findRef(repository, tagPrefix + tag);

/** Returns the commit of the tag, and creates the tag if it is missing. */
const findOrCreateTag = async (call: Call, code: Code, input: NewRelease): Promise<string | null> => {
  const { tag, ref, tag_message } = input;
  const existing = await findTag(code, tag);
  if (existing !== null) return existing.commit;
  if (ref === null) throw new Failure('unprocessable', { message: 'Ref is not specified' });
  try {
    const created = await createTag(call, code, { tag, from: ref, message: tag_message ?? undefined });
    return created.commit;
  } catch (error) {
    // A concurrent request may have created the tag.
    const existingTag = error instanceof Failure ? await findTag(code, tag) : null;
    if (existingTag === null) throw error;
    return existingTag.commit;
  }
};

/**
 * Creates a release, and its tag if missing.
 * @throws Failure 409 if the tag has a release, 422 if the tag is missing and no ref is specified
 */
export const createRelease = async (call: Call, code: Code, input: NewRelease): Promise<ReleaseRow> => {
  const { project } = code;
  const { tag, links } = input;
  await requireReleaser(call, code, tag);
  if ((await loadRelease(call.db, project.id, tag)) !== undefined) throw alreadyExists();
  const sha = await findOrCreateTag(call, code, input);
  return await call.write(async (tx) => {
    // Serializes concurrent creation of the same release or link.
    await holdProject(tx, project.id);
    if ((await loadRelease(tx.db, project.id, tag)) !== undefined) throw alreadyExists();
    const row = {
      project_id: project.id,
      tag,
      name: input.name,
      description: input.description,
      sha,
      author_id: requireUser(call).id,
      created_at: tx.now,
      released_at: input.released_at ?? tx.now,
    };
    const release = { id: await insertRow(tx.db, 'releases', row), ...row };
    for (const link of links) {
      await addLink(tx, release.id, link);
    }
    await setMilestones(tx, release.id, input.milestone_ids);
    await recordReleaseEvent(tx, call, 'release.created', release);
    return release;
  });
};

export type ReleaseEdit = {
  name?: string | null;
  description?: string | null;
  released_at?: number;
  /** null: unchanged. */
  milestone_ids: number[] | null;
};

export const updateRelease = async (
  call: Call,
  { project }: Code,
  tag: string,
  { milestone_ids, ...edit }: ReleaseEdit,
): Promise<ReleaseRow> =>
  await call.write(async (tx) => {
    // Setting `tag` keeps the update valid if only milestones change.
    const changed = await tx.db
      .updateTable('releases')
      .set({ tag, ...edit })
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw notFound();
    if (milestone_ids !== null) await setMilestones(tx, changed.id, milestone_ids);
    await recordReleaseEvent(tx, call, 'release.updated', changed);
    return changed;
  });

/** Deletes a release. The tag is kept. */
export const deleteRelease = async (call: Call, { id }: ReleaseRow): Promise<void> => {
  await call.write(async (tx) => {
    const deleted = await tx.db.deleteFrom('releases').where('id', '=', id).returningAll().executeTakeFirst();
    if (deleted === undefined) throw notFound();
    await recordReleaseEvent(tx, call, 'release.deleted', deleted);
  });
};

/** Runs a change of a release's links in a transaction, serialized per project. */
export const withRelease = async <T>(
  call: Call,
  { project }: Code,
  tag: string,
  work: (tx: Tx, release: ReleaseRow) => Promise<T>,
): Promise<T> =>
  await call.write(async (tx) => {
    await holdProject(tx, project.id);
    const release = await findRelease(tx.db, project.id, tag);
    const result = await work(tx, release);
    await recordReleaseEvent(tx, call, 'release.updated', release);
    return result;
  });
