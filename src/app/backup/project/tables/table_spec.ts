/** Specification of each table, and conditions shared by several tables. */
import type { Rule } from '../column_rules.ts';

export type TableSpec = {
  name: string;
  /** SQL condition of the backup's rows; `?1` is the old id of the project. */
  where: string;
  /** Rules of columns; others are taken as they are. */
  columns: { [column: string]: Rule };
  /** Ids of rows that come later or of the same table, set when all are there; by column, the table. */
  later?: { [column: string]: string };
  /** Encrypted by the secrets of the instance: restored if the secrets are the same. */
  isSealed?: boolean;
};

export const project = 'project_id = ?1';
export const issues = '(select id from issues where project_id = ?1 and deleted_at is null)';
const requests = '(select id from merge_requests where project_id = ?1 and deleted_at is null)';
export const ofTargets = `((target_type = 'Issue' and target_id in ${issues})
  or (target_type = 'MergeRequest' and target_id in ${requests}))`;
/** Like `ofTargets`, including snippets. */
export const ofNoteables = `(${ofTargets}
  or (target_type = 'Snippet' and target_id in (select id from snippets where project_id = ?1)))`;
export const ofRequests = `merge_request_id in ${requests}`;
export const versions = `(select id from merge_request_diffs where ${ofRequests})`;
export const ofTable = (column: string, table: string): string =>
  `${column} in (select id from ${table} where project_id = ?1)`;
