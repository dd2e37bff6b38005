/** Rewrites the references of a text whose issue moves to another project. */
import type { Tx } from '../../../platform/db/open.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { listReferencedIids, rewriteReferences } from './rewrite_references.ts';

/** Returns the numbers that are iids of the project's issues. */
export const existingIids = async (tx: Tx, projectId: number, iids: number[]): Promise<Set<number>> => {
  if (iids.length === 0) return new Set();
  const rows = await tx.db
    .selectFrom('issues')
    .select('iid')
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .where(tx.dialect.oneOf('iid', iids))
    .execute();
  return new Set(rows.map(({ iid }) => iid));
};

/** Rewrites a text of one project's issue so that its references hold in another project. */
export const rewriteText = async (tx: Tx, from: Project, text: string): Promise<string> =>
  rewriteReferences(text, from.full_path, await existingIids(tx, from.id, listReferencedIids(text)));
