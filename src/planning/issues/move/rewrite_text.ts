/** Rewrites the references of a text whose issue moves to another project. */
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { listReferencedIids, rewriteReferences } from './rewrite_references.ts';

/** A transaction, or what a call reads from. */
type Source = { db: Reader; dialect: SqlDialect };

/** Returns the numbers that are iids of the project's issues. */
export const existingIids = async (
  { db, dialect }: Source,
  projectId: number,
  iids: number[],
): Promise<Set<number>> => {
  if (iids.length === 0) return new Set();
  const rows = await db
    .selectFrom('issues')
    .select('iid')
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .where(dialect.oneOf('iid', iids))
    .execute();
  return new Set(rows.map(({ iid }) => iid));
};

/** Rewrites a text of one project's issue so that its references hold in another project. */
export const rewriteText = async (source: Source, from: Project, text: string): Promise<string> =>
  rewriteReferences(text, from.full_path, await existingIids(source, from.id, listReferencedIids(text)));
