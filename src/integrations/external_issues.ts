import type { Reader } from '../db/open.ts';
import { closingExternalKeys } from '../issuables/closing_pattern.ts';
import { activeIntegrations } from './queries.ts';

/** An issue of a tracker outside, of which only its key is known here. */
export type ExternalIssue = { id: string; title: string };

/** The issues of the project's tracker outside that a text says it closes; none where it has no such tracker. */
export const externalIssuesClosedBy = async (
  db: Reader,
  projectId: number,
  text: string,
): Promise<ExternalIssue[]> => {
  const keys = closingExternalKeys(text);
  if (keys.length === 0 || (await activeIntegrations(db, projectId)).length === 0) return [];
  return keys.map((id) => ({ id, title: `External Issue ${id}` }));
};
