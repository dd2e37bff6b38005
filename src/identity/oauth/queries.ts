import type { Selectable } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { OauthApplicationsTable } from '../../platform/db/schema/credentials.ts';
import type { PageRequest } from '../../platform/http/page.ts';
import { refreshLife } from './rules.ts';

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

const toApplication = ({ redirect_uris, scopes, confidential, trusted, ...row }: Row): Application => ({
  ...row,
  redirect_uris: JSON.parse(redirect_uris) as string[],
  scopes: JSON.parse(scopes) as string[],
  confidential: confidential === 1,
  trusted: trusted === 1,
});

const applications = (db: Reader) => db.selectFrom('oauth_applications').select(columns);

/** Loads an application by its public `client_id`. */
export const findApplicationByUid = async (db: Reader, uid: string): Promise<Application | undefined> => {
  const row = await applications(db).where('uid', '=', uid).executeTakeFirst();
  return row && toApplication(row);
};

export const findApplication = async (db: Reader, id: number): Promise<Application | undefined> => {
  const row = await applications(db).where('id', '=', id).executeTakeFirst();
  return row && toApplication(row);
};

/** Lists a page of all applications, oldest first. */
export const listApplications = async (
  db: Reader,
  { limit, offset }: PageRequest,
): Promise<{ items: Application[]; total: number }> => {
  const { total } = await db
    .selectFrom('oauth_applications')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await applications(db).orderBy('id').limit(limit).offset(offset).execute();
  return { items: rows.map(toApplication), total };
};

const maxAuthorizedApplications = 500;

/** Maximum number of applications that a user may register. */
export const maxOwned = 100;

export const listOwnApplications = async (db: Reader, userId: number): Promise<Application[]> => {
  const rows = await applications(db).where('owner_id', '=', userId).orderBy('id').limit(maxOwned).execute();
  return rows.map(toApplication);
};

export type Authorized = {
  /** null: clients that used the password and named no application. */
  application: { id: number; name: string } | null;
  scopes: string[];
  /** When the last token was issued. */
  granted_at: number;
};

/** Lists the applications that may act for a user, with their scopes. */
export const listAuthorized = async (db: Reader, userId: number, now: number): Promise<Authorized[]> => {
  const rows = await db
    .selectFrom('tokens')
    .leftJoin('oauth_applications', 'oauth_applications.id', 'tokens.application_id')
    .select(['tokens.application_id', 'oauth_applications.name', 'tokens.scopes'])
    .select(({ fn }) => fn.max('tokens.created_at').as('granted_at'))
    .where('tokens.user_id', '=', userId)
    .where('tokens.kind', '=', 'oauth')
    .where('tokens.revoked', '=', 0)
    .where('tokens.dies_at', '>', now - refreshLife)
    .groupBy(['tokens.application_id', 'oauth_applications.name', 'tokens.scopes'])
    .orderBy('granted_at', 'desc')
    .limit(maxAuthorizedApplications)
    .execute();
  const byId = new Map<number | null, Authorized>();
  for (const { application_id: id, name, scopes, granted_at } of rows) {
    const application = id === null ? null : { id, name: name ?? '' };
    const entry = byId.get(id) ?? { application, scopes: [], granted_at };
    byId.set(id, entry);
    entry.scopes = [...new Set([...entry.scopes, ...(JSON.parse(scopes) as string[])])];
  }
  return [...byId.values()];
};
