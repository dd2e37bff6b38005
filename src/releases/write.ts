import { type Call, actorOf, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { Failure, conflict, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Ref } from '../git/protocol_types.ts';
import { holdProject } from '../projects/hold.ts';
import { requireTagging } from '../repository/change_refs.ts';
import type { Code } from '../repository/code.ts';
import { protectedTags } from '../repository/protected.ts';
import { findRef, tagPrefix } from '../repository/resolve.ts';
import { createTag } from '../repository/tag_write.ts';
import type { ReleaseRow } from './json.ts';
import { type Link, addLink } from './links.ts';
import { setMilestones } from './milestones.ts';
import { findRelease, releaseOf } from './queries.ts';

export type NewRelease = {
  tag: string;
  name: string | null;
  description: string | null;
  /** What a tag that is not there is made of. */
  ref: string | null;
  tag_message: string | null;
  released_at: number | null;
  links: Link[];
  milestone_ids: number[];
};

const taken = () => conflict('Release already exists');

const tell = async (tx: Tx, call: Call, kind: string, { id, project_id, tag }: ReleaseRow): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind,
    project_id,
    target_type: 'Release',
    target_id: id,
    data: { tag },
  });

/** Whoever may not make a protected tag has no say in its release. */
export const requireReleaser = async (call: Call, { project }: Code, tag: string): Promise<void> =>
  requireTagging(call, tag)(project, await protectedTags(call.db, project.id));

const tagged = async ({ repository }: Code, tag: string): Promise<Ref | null> =>
  await findRef(repository, tagPrefix + tag);

/** The commit of the tag, which is made where it is not there. */
const commitOf = async (call: Call, code: Code, given: NewRelease): Promise<string | null> => {
  const { tag, ref, tag_message } = given;
  const known = await tagged(code, tag);
  if (known !== null) return known.commit;
  if (ref === null) throw new Failure('unprocessable', { message: 'Ref is not specified' });
  try {
    const made = await createTag(call, code, { tag, from: ref, message: tag_message ?? undefined });
    return made.commit;
  } catch (error) {
    // Somebody else was faster: then it is there.
    const made = error instanceof Failure ? await tagged(code, tag) : null;
    if (made === null) throw error;
    return made.commit;
  }
};

/**
 * Makes a release, and its tag where that is missing.
 * @throws Failure 409 where the tag has a release, 422 without a tag and what to make it of
 */
export const createRelease = async (call: Call, code: Code, given: NewRelease): Promise<ReleaseRow> => {
  const { project } = code;
  const { tag, links } = given;
  await requireReleaser(call, code, tag);
  if ((await releaseOf(call.db, project.id, tag)) !== undefined) throw taken();
  const sha = await commitOf(call, code, given);
  return await call.write(async (tx) => {
    // Of two that create the same release, or the same link, at once, one is the first.
    await holdProject(tx, project.id);
    if ((await releaseOf(tx.db, project.id, tag)) !== undefined) throw taken();
    const row = {
      project_id: project.id,
      tag,
      name: given.name,
      description: given.description,
      sha,
      author_id: userOf(call).id,
      created_at: tx.now,
      released_at: given.released_at ?? tx.now,
    };
    const release = { id: await insertRow(tx.db, 'releases', row), ...row };
    for (const link of links) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
      await addLink(tx, release.id, link);
    }
    await setMilestones(tx, release.id, given.milestone_ids);
    await tell(tx, call, 'release.created', release);
    return release;
  });
};

export type ReleaseEdit = {
  name?: string | null;
  description?: string | null;
  released_at?: number;
  /** null: they stay. */
  milestone_ids: number[] | null;
};

export const updateRelease = async (
  call: Call,
  { project }: Code,
  tag: string,
  { milestone_ids, ...edit }: ReleaseEdit,
): Promise<ReleaseRow> =>
  await call.write(async (tx) => {
    // As it is, where only its milestones change.
    const changed = await tx.db
      .updateTable('releases')
      .set({ tag, ...edit })
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw notFound();
    if (milestone_ids !== null) await setMilestones(tx, changed.id, milestone_ids);
    await tell(tx, call, 'release.updated', changed);
    return changed;
  });

/** The tag stays. */
export const deleteRelease = async (call: Call, { id }: ReleaseRow): Promise<void> => {
  await call.write(async (tx) => {
    const gone = await tx.db.deleteFrom('releases').where('id', '=', id).returningAll().executeTakeFirst();
    if (gone === undefined) throw notFound();
    await tell(tx, call, 'release.deleted', gone);
  });
};

/** Changes something about a release's links, one change after another. */
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
    await tell(tx, call, 'release.updated', release);
    return result;
  });
