import type { Selectable } from 'kysely';
import type { SnippetsTable } from '../../platform/db/schema/projects.ts';

/** The columns of a snippet except its content, which may be long. */
export const snippetColumns = [
  'id',
  'project_id',
  'author_id',
  'title',
  'file_name',
  'description',
  'visibility',
  'created_at',
  'updated_at',
] as const;

export type SnippetRow = Pick<Selectable<SnippetsTable>, (typeof snippetColumns)[number]>;
