import { timingSafeEqual } from 'node:crypto';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import type { Reader } from '../../platform/db/open.ts';
import { invalidClient, invalidRequest } from './failures.ts';
import { type Application, findApplicationByUid } from './queries.ts';

/** Parameters of a request to an OAuth endpoint, each sent once, as text. */
export type Form = { readonly [name: string]: string };

type ClientCredentials = { uid: string; secret: string | undefined };

/** Decodes the form encoding inside Basic (RFC 6749, 2.3.1). */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidClient();
  }
};

const readBasicCredentials = (authorization: string | undefined): ClientCredentials | null => {
  const match = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '');
  if (match?.[1] === undefined) return null;
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) throw invalidClient();
  const credentials = { uid: decoded(text.slice(0, colon)), secret: decoded(text.slice(colon + 1)) };
  if (credentials.uid.includes('\0')) throw invalidClient();
  return credentials;
};

const readCredentials = (authorization: string | undefined, form: Form): ClientCredentials | null => {
  const basic = readBasicCredentials(authorization);
  const { client_id: uid, client_secret: secret } = form;
  if (basic === null) return uid === undefined ? null : { uid, secret };
  if (secret !== undefined) throw invalidRequest('The client must not authenticate in two ways.');
  if (uid !== undefined && uid !== basic.uid) throw invalidRequest('Two clients are named.');
  return basic;
};

const isSecret = (secret: string, { secret_hash }: Application): boolean =>
  timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(secret_hash));

/**
 * Returns the application that sends the request, by Basic or by the form; null: none is named. A confidential
 * application must present its secret; a public one only its id, and a secret that it sends must be right.
 * @throws Failure 401 invalid_client, 400 invalid_request
 */
export const authenticateClient = async (
  db: Reader,
  authorization: string | undefined,
  form: Form,
): Promise<Application | null> => {
  const credentials = readCredentials(authorization, form);
  if (credentials === null) return null;
  const application = await findApplicationByUid(db, credentials.uid);
  if (application === undefined) throw invalidClient();
  // Some public clients send an empty secret.
  const secret = credentials.secret === '' && !application.confidential ? undefined : credentials.secret;
  const isProven = secret === undefined ? !application.confidential : isSecret(secret, application);
  if (!isProven) throw invalidClient();
  return application;
};

/** Requires a client. @throws Failure as `authenticateClient`, and 401 if no client is named */
export const requireClient = async (
  db: Reader,
  authorization: string | undefined,
  form: Form,
): Promise<Application> => {
  const client = await authenticateClient(db, authorization, form);
  if (client === null) throw invalidClient();
  return client;
};
