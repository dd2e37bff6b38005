import type { MigrationText } from '../ddl_keywords.ts';

/** Sessions in which an administrator acts as another user. They end with the session of the administrator. */
export const impersonation: MigrationText = {
  name: '0055_impersonation',
  statements: ({ integer }) => [
    `alter table sessions add column impersonator_session_id ${integer}
      references sessions (id) on delete cascade`,
    // For the end of the administrator's session.
    `create index sessions_of_impersonator on sessions (impersonator_session_id)
      where impersonator_session_id is not null`,
  ],
};
