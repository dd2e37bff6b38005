import type { Reader } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { IntegrationRow } from './json.ts';
import type { Slug } from './trackers.ts';

export const integrationOf = async (
  db: Reader,
  projectId: number,
  slug: Slug,
): Promise<IntegrationRow | undefined> =>
  await db
    .selectFrom('integrations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('slug', '=', slug)
    .executeTakeFirst();

/** @throws Failure 404 for one that was never set */
export const findIntegration = async (db: Reader, projectId: number, slug: Slug): Promise<IntegrationRow> => {
  const found = await integrationOf(db, projectId, slug);
  if (found === undefined) throw notFound('Integration');
  return found;
};

/** Those that are active. */
export const activeIntegrations = async (db: Reader, projectId: number): Promise<IntegrationRow[]> =>
  await db
    .selectFrom('integrations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('active', '=', 1)
    .orderBy('id')
    .execute();
