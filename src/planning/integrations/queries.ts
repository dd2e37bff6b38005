import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { IntegrationRow } from './json.ts';
import type { Slug } from './trackers.ts';

export const loadIntegration = async (
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

/** Loads an integration. @throws Failure 404 if it was never configured */
export const findIntegration = async (db: Reader, projectId: number, slug: Slug): Promise<IntegrationRow> => {
  const integration = await loadIntegration(db, projectId, slug);
  if (integration === undefined) throw notFound('Integration');
  return integration;
};

/** Lists the active integrations of a project. */
export const activeIntegrations = async (db: Reader, projectId: number): Promise<IntegrationRow[]> =>
  await db
    .selectFrom('integrations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('active', '=', 1)
    .orderBy('id')
    .execute();

/** Lists the integrations that were configured in a project, at most one for each tracker. */
export const configuredIntegrations = async (db: Reader, projectId: number): Promise<IntegrationRow[]> =>
  await db.selectFrom('integrations').selectAll().where('project_id', '=', projectId).orderBy('id').execute();
