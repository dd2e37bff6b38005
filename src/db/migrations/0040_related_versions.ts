import type { MigrationText } from '../ddl.ts';
import { closerVersionStatements, projectNameStatements } from './revisions.ts';

/** What issues and merge requests show of other records since: how many requests close an issue, how a project squashes. */
export const relatedVersions: MigrationText = {
  name: '0040_related_versions',
  statements: ({ engine }) => [...closerVersionStatements(engine), ...projectNameStatements(engine)],
};
