import type { Reader } from '../../platform/db/open.ts';
import { closingExternalKeys } from '../issuables/text/closing_pattern.ts';
import { activeIntegrations } from './queries.ts';

/** An issue of an external tracker, known only by its key. */
export type ExternalIssue = { id: string; title: string };

/** Lists the issues of the project's external tracker that a text closes; none without such a tracker. */
export const externalIssuesClosedBy = async (
  db: Reader,
  projectId: number,
  text: string,
): Promise<ExternalIssue[]> => {
  const keys = closingExternalKeys(text);
  if (keys.length === 0 || (await activeIntegrations(db, projectId)).length === 0) return [];
  return keys.map((id) => ({ id, title: `External Issue ${id}` }));
};
