import type { Selectable } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { OauthApplicationsTable } from '../db/schema_access.ts';
import type { PageRequest } from '../http/page.ts';
import { refreshRest } from './rules.ts';

const columns = [
  'id',
  'owner_id',
  'name',
  'uid',
  'secret_hash',
  'redirect_uris',
  'scopes',
  'confidential',
  'trusted',
  'created_at',
] as const;

type Row = Pick<Selectable<OauthApplicationsTable>, (typeof columns)[number]>;

export type Application = Omit<Row, 'redirect_uris' | 'scopes' | 'confidential' | 'trusted'> & {
  redirect_uris: string[];
  scopes: string[];
  confidential: boolean;
  trusted: boolean;
};

const applicationOf = ({ redirect_uris, scopes, confidential, trusted, ...row }: Row): Application => ({
  ...row,
  redirect_uris: JSON.parse(redirect_uris) as string[],
  scopes: JSON.parse(scopes) as string[],
  confidential: confidential === 1,
  trusted: trusted === 1,
});

const applications = (db: Reader) => db.selectFrom('oauth_applications').select(columns);

/** By its public `client_id`. */
export const applicationByUid = async (db: Reader, uid: string): Promise<Application | undefined> => {
  const row = await applications(db).where('uid', '=', uid).executeTakeFirst();
  return row && applicationOf(row);
};

export const findApplication = async (db: Reader, id: number): Promise<Application | undefined> => {
  const row = await applications(db).where('id', '=', id).executeTakeFirst();
  return row && applicationOf(row);
};

/** A page of all applications, oldest first. */
export const listApplications = async (
  db: Reader,
  { limit, offset }: PageRequest,
): Promise<{ items: Application[]; total: number }> => {
  const { total } = await db
    .selectFrom('oauth_applications')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await applications(db).orderBy('id').limit(limit).offset(offset).execute();
  return { items: rows.map(applicationOf), total };
};

const mostAuthorized = 500;

/** How many applications a user may register. */
export const mostOwned = 100;

export const ownApplications = async (db: Reader, userId: number): Promise<Application[]> => {
  const rows = await applications(db).where('owner_id', '=', userId).orderBy('id').limit(mostOwned).execute();
  return rows.map(applicationOf);
};

export type Authorized = {
  /** null: clients that asked with the password, and named no application. */
  application: { id: number; name: string } | null;
  scopes: string[];
  /** When it last got a token. */
  granted_at: number;
};

/** Who may act in a user's name, with what. */
export const authorizedOf = async (db: Reader, userId: number, now: number): Promise<Authorized[]> => {
  const rows = await db
    .selectFrom('tokens')
    .leftJoin('oauth_applications', 'oauth_applications.id', 'tokens.application_id')
    .select(['tokens.application_id', 'oauth_applications.name', 'tokens.scopes'])
    .select(({ fn }) => fn.max('tokens.created_at').as('granted_at'))
    .where('tokens.user_id', '=', userId)
    .where('tokens.kind', '=', 'oauth')
    .where('tokens.revoked', '=', 0)
    .where('tokens.dies_at', '>', now - refreshRest)
    .groupBy(['tokens.application_id', 'oauth_applications.name', 'tokens.scopes'])
    .orderBy('granted_at', 'desc')
    .limit(mostAuthorized)
    .execute();
  const byId = new Map<number | null, Authorized>();
  for (const { application_id: id, name, scopes, granted_at } of rows) {
    const application = id === null ? null : { id, name: name ?? '' };
    const known = byId.get(id) ?? { application, scopes: [], granted_at };
    byId.set(id, known);
    known.scopes = [...new Set([...known.scopes, ...(JSON.parse(scopes) as string[])])];
  }
  return [...byId.values()];
};
