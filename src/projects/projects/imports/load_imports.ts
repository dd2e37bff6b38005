import type { ImportStatus } from '../../../platform/db/schema/projects.ts';
import type { Reader } from '../../../platform/db/open.ts';

export type ProjectImport = { project_id: number; url: string; error: string | null };

/** Loads the latest imports of projects, by project. */
export const loadImports = async (
  db: Reader,
  projectIds: readonly number[],
): Promise<Map<number, ProjectImport>> => {
  if (projectIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('project_imports')
    .select(['project_id', 'url', 'error'])
    .where('project_id', 'in', projectIds)
    .execute();
  return new Map(rows.map((row) => [row.project_id, row]));
};

/** Renders the import of a project, for users who can change it. */
export const importJson = (
  { import_status }: { import_status: ImportStatus },
  imported: ProjectImport | undefined,
) => ({
  import_status,
  import_type: imported === undefined ? null : 'git',
  import_error: imported?.error ?? null,
});
