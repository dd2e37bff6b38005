import { type Call, requireUser } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { Failure, conflict, notFound } from '../../platform/errors.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import type { Ref } from '../../platform/git/protocol_types.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import type { Project } from '../../projects/projects/find.ts';
import { requireTagPermission } from '../repository/refs/authorized_ref_changes.ts';
import type { Code } from '../repository/find_code.ts';
import { loadProtectedTags } from '../repository/protection/rules.ts';
import { findRef, tagPrefix } from '../repository/refs/resolve.ts';
import { createTag } from '../repository/tags/change_tags.ts';
import { recordReleaseEvent } from '../repository/tags/record_release_event.ts';
import { type ReleaseJson, type ReleaseRow, releasesJson } from './json.ts';
import { type Link, addLink } from './links.ts';
import {
  type NamedMilestones,
  type ReleaseMilestone,
  loadReleaseMilestones,
  resolveMilestoneIds,
  setMilestones,
} from './milestones.ts';
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
  milestones: NamedMilestones;
};

const alreadyExists = () => conflict('Release already exists');

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
  const milestoneIds = (await resolveMilestoneIds(call.db, project, input.milestones)) ?? [];
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
    await setMilestones(tx, release.id, milestoneIds);
    await recordReleaseEvent(tx, call, 'release.created', release);
    return release;
  });
};

export type ReleaseEdit = {
  name?: string | null;
  description?: string | null;
  released_at?: number;
} & NamedMilestones;

/** A release with its milestones, in the order of their ids. */
export type PlannedRelease = {
  row: ReleaseRow;
  milestones: readonly Pick<ReleaseMilestone, 'id' | 'title'>[];
};

/** Locks a release until the transaction ends. @throws Failure 404 */
const lockRelease = async (tx: Tx, call: Call, project: Project, tag: string): Promise<PlannedRelease> => {
  const row = await tx.db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('tag', '=', tag)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  const scope = { db: tx.db, viewer: call.viewer };
  return { row, milestones: await loadReleaseMilestones(scope, project, [row.id]) };
};

/** @throws Failure 404 without a release of the tag, 403 if the tag is protected */
const findReleaseToChange = async (call: Call, code: Code, tag: string): Promise<ReleaseRow> => {
  const release = await findRelease(call.db, code.project.id, tag);
  await requireReleaser(call, code, tag);
  return release;
};

/** Changes a release. Milestones that are not named are kept. */
export const updateRelease = async (
  call: Call,
  code: Code,
  tag: string,
  { milestones, milestone_ids, check, ...edit }: Checked<ReleaseEdit, PlannedRelease>,
): Promise<ReleaseRow> => {
  const { project } = code;
  await findReleaseToChange(call, code, tag);
  const milestoneIds = await resolveMilestoneIds(call.db, project, { milestones, milestone_ids });
  return await call.write(async (tx) => {
    check?.(await lockRelease(tx, call, project, tag));
    // Setting `tag` keeps the update valid if only milestones change.
    const changed = await tx.db
      .updateTable('releases')
      .set({ tag, ...edit })
      .where('project_id', '=', project.id)
      .where('tag', '=', tag)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw notFound();
    if (milestoneIds !== null) await setMilestones(tx, changed.id, milestoneIds);
    await recordReleaseEvent(tx, call, 'release.updated', changed);
    return changed;
  });
};

/** Deletes the release of a tag; the tag is kept. Returns its JSON from before. */
export const deleteRelease = async (
  call: Call,
  code: Code,
  tag: string,
): Promise<ReleaseJson | undefined> => {
  const release = await findReleaseToChange(call, code, tag);
  const [json] = await releasesJson(call, code, [release]);
  await call.write(async (tx) => {
    const deleted = await tx.db
      .deleteFrom('releases')
      .where('id', '=', release.id)
      .returningAll()
      .executeTakeFirst();
    if (deleted === undefined) throw notFound();
    await recordReleaseEvent(tx, call, 'release.deleted', deleted);
  });
  return json;
};
