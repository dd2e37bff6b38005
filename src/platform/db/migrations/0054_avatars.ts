import type { MigrationText } from '../ddl.ts';
import { userNameStatements } from './revisions.ts';

/** Uploaded avatars of users, groups and projects: the digest and the name of each. */
export const avatars: MigrationText = {
  name: '0054_avatars',
  statements: ({ engine, text }) => [
    ...['users', 'namespaces', 'projects'].map((table) => `alter table ${table} add column avatar ${text}`),
    ...userNameStatements(engine),
  ],
};
