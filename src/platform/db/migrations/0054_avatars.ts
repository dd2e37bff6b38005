import type { MigrationText } from '../ddl_keywords.ts';
import { userNameStatements } from './revision_triggers.ts';

/** Uploaded avatars of users, groups and projects: the digest and the name of each. */
export const avatars: MigrationText = {
  name: '0054_avatars',
  statements: ({ engine, text }) => [
    ...['users', 'namespaces', 'projects'].map((table) => `alter table ${table} add column avatar ${text}`),
    ...userNameStatements(engine),
  ],
};
