/** Records that two issues were linked or unlinked: a system note and a row of the change log for each of them. */
import { sql } from 'kysely';
import { type Cause, recordEvent } from '../../../core/events/record_event.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { linkedText, unlinkedText } from '../../issuables/text/system_note_text.ts';
import { addSystemNotes } from '../../notes/add_system_notes.ts';
import { type Link, type LinkType, otherIssueId, typeFrom } from './link_types.ts';

type Ends = Pick<Link, 'source_id' | 'target_id'>;

type End = { id: number; iid: number; project_id: number; full_path: string };

/** Locks both issues, in a fixed order. */
export const lockEnds = async ({ db, dialect }: Tx, { source_id, target_id }: Ends): Promise<void> => {
  await sql`select id from issues where id in (${source_id}, ${target_id})
    order by id ${dialect.forUpdate}`.execute(db);
};

const loadEnds = async ({ db }: Tx, { source_id, target_id }: Ends): Promise<End[]> =>
  await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.iid', 'issues.project_id', 'projects.full_path'])
    .where('issues.id', 'in', [source_id, target_id])
    .orderBy('issues.id')
    .execute();

const textFor = (verb: 'linked' | 'unlinked', type: LinkType, here: End, there: End): string => {
  const reference = {
    iid: there.iid,
    ...(there.project_id !== here.project_id && { project: there.full_path }),
  };
  return verb === 'linked' ? linkedText(type, reference) : unlinkedText(reference);
};

/** Records the change on both issues, which must be locked. */
export const recordLinkChange = async (
  tx: Tx,
  cause: Cause,
  verb: 'linked' | 'unlinked',
  link: Pick<Link, 'source_id' | 'target_id' | 'link_type'>,
): Promise<void> => {
  const ends = await loadEnds(tx, link);
  for (const here of ends) {
    const there = ends.find(({ id }) => id === otherIssueId(link, here.id));
    if (there === undefined) continue;
    const link_type = typeFrom(link, here.id);
    const target = { type: 'Issue' as const, id: here.id, project_id: here.project_id };
    await addSystemNotes(tx, cause.user.id, target, [textFor(verb, link_type, here, there)]);
    await recordEvent(tx, cause, {
      kind: `issue.${verb}`,
      project_id: here.project_id,
      target_type: 'Issue',
      target_id: here.id,
      data: { link_type, linked_issue_id: there.id },
    });
  }
};
