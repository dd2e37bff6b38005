/** A link between two issues, and how it reads from either end. */
import type { Selectable } from 'kysely';
import type { IssueLinksTable } from '../../../platform/db/schema/planning.ts';

export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export type LinkType = (typeof linkTypes)[number];

export type Link = Selectable<IssueLinksTable>;

/** The type of a link, seen from this issue. */
export const typeFrom = (
  { source_id, link_type }: Pick<Link, 'source_id' | 'link_type'>,
  issueId: number,
): LinkType => (link_type === 'blocks' && source_id !== issueId ? 'is_blocked_by' : link_type);

/** Returns the id of the issue at the other end of a link. */
export const otherIssueId = (
  { source_id, target_id }: Pick<Link, 'source_id' | 'target_id'>,
  issueId: number,
): number => (source_id === issueId ? target_id : source_id);
