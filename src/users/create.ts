import type { Insertable } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { UsersTable } from '../db/schema.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { insertPersonalNamespace } from '../namespaces/create.ts';

type Row = Insertable<UsersTable>;
type Given = 'username' | 'name' | 'email' | 'password_hash';

export type NewUser = Pick<Row, Given> & Partial<Omit<Row, Given | 'id' | 'created_at' | 'updated_at'>>;

/** Stores a user with his personal namespace; answers the id. The input has been checked (`users/rules.ts`). */
export const insertUser = async (tx: Tx, cause: Cause | null, user: NewUser): Promise<number> => {
  const { id } = await tx.db
    .insertInto('users')
    .values({
      state: 'active',
      admin: 0,
      external: 0,
      can_create_group: 1,
      projects_limit: null,
      bio: null,
      location: null,
      skype: null,
      linkedin: null,
      twitter: null,
      website_url: null,
      organization: null,
      public_email: null,
      note: null,
      last_sign_in_at: null,
      last_activity_on: null,
      ...user,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertPersonalNamespace(tx, { owner_id: id, path: user.username, name: user.name });
  await recordEvent(tx, cause, { kind: 'user.created', project_id: null, target_type: 'User', target_id: id });
  return id;
};
