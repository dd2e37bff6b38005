import type { MigrationText } from '../ddl_keywords.ts';
import { closerVersionStatements, projectNameStatements } from './revision_triggers.ts';

/**
 * Raises versions for data of other records that issues and merge requests show: closing merge requests, and a
 * project's squash option.
 */
export const relatedVersions: MigrationText = {
  name: '0040_related_versions',
  statements: ({ engine }) => [...closerVersionStatements(engine), ...projectNameStatements(engine)],
};
