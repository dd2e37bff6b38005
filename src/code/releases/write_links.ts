/** Adds, changes and removes links of releases. */
import type { Call } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import type { Code } from '../repository/find_code.ts';
import { findLink, findRelease } from './find_releases.ts';
import type { ReleaseLinkRow, ReleaseRow } from './json.ts';
import { type Link, type LinkType, addLink, changeLink, checkLink } from './links.ts';
import { recordReleaseEvent } from '../repository/tags/record_release_event.ts';
import { requireReleaser } from './write_releases.ts';

/** Changes a release's links in one transaction that locks the project, and records `release.updated`. */
const changeReleaseLinks = async (
  call: Call,
  { project }: Code,
  tag: string,
  work: (tx: Tx, release: ReleaseRow) => Promise<ReleaseLinkRow>,
): Promise<ReleaseLinkRow> =>
  await call.write(async (tx) => {
    await holdProject(tx, project.id);
    const release = await findRelease(tx.db, project.id, tag);
    const result = await work(tx, release);
    await recordReleaseEvent(tx, call, 'release.updated', release);
    return result;
  });

/** @throws Failure 400 for an invalid link, or one whose name or URL is taken */
export const createLink = async (
  call: Call,
  code: Code,
  tag: string,
  link: Link,
): Promise<ReleaseLinkRow> => {
  await findRelease(call.db, code.project.id, tag);
  await requireReleaser(call, code, tag);
  checkLink(link);
  return await changeReleaseLinks(call, code, tag, async (tx, { id }) => await addLink(tx, id, link));
};

/** Identifies a release link: the release's tag and the link's id. */
export type ReleaseLinkKey = { tag: string; linkId: number };

const requireLink = async (call: Call, code: Code, { tag, linkId }: ReleaseLinkKey): Promise<void> => {
  const release = await findRelease(call.db, code.project.id, tag);
  await findLink(call.db, release.id, linkId);
  await requireReleaser(call, code, tag);
};

export type LinkEdit = {
  name?: string | undefined;
  url?: string | undefined;
  filepath?: string | null | undefined;
  link_type?: LinkType | undefined;
};

export const updateLink = async (
  call: Call,
  code: Code,
  linkKey: ReleaseLinkKey,
  edit: LinkEdit,
): Promise<ReleaseLinkRow> => {
  await requireLink(call, code, linkKey);
  return await changeReleaseLinks(call, code, linkKey.tag, async (tx, release) => {
    const before = await findLink(tx.db, release.id, linkKey.linkId);
    const link = {
      name: edit.name ?? before.name,
      url: edit.url ?? before.url,
      link_type: edit.link_type ?? before.link_type,
      filepath: edit.filepath === undefined ? before.filepath : edit.filepath,
    };
    checkLink(link);
    return await changeLink(tx, before, link);
  });
};

/** Deletes a link, and returns it. */
export const deleteLink = async (
  call: Call,
  code: Code,
  linkKey: ReleaseLinkKey,
): Promise<ReleaseLinkRow> => {
  await requireLink(call, code, linkKey);
  return await changeReleaseLinks(call, code, linkKey.tag, async (tx, release) => {
    const link = await findLink(tx.db, release.id, linkKey.linkId);
    await tx.db.deleteFrom('release_links').where('id', '=', link.id).execute();
    return link;
  });
};
