import type { MigrationText } from '../ddl_keywords.ts';

/** The id up to which the change log was pruned. */
export const prunedChanges: MigrationText = {
  name: '0115_pruned_changes',
  statements: () => [`insert into instance (name, value) values ('changes_pruned_until', '0')`],
};
