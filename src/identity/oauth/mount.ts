/** The OAuth 2 endpoints for programs, below `/oauth`, outside the API. */
import type { FastifyRequest } from 'fastify';
import type { Platform } from '../../core/platform.ts';
import { readPresentedToken } from '../../core/access/credentials/read_credential.ts';
import { Failure } from '../../platform/errors.ts';
import { parseBody } from '../../platform/http/body/parse_body.ts';
import { getBaseUrl } from '../../platform/http/origin.ts';
import type { RawParams } from '../../platform/http/params.ts';
import type { RouteTable } from '../../platform/http/route_table.ts';
import { type Form, authenticateClient, requireClient } from './authenticate_client.ts';
import { exchangeCode } from './exchange_code.ts';
import { invalidRequest, noStore, notOfClient, oauthFailure } from './failures.ts';
import type { TokenAnswer } from './issue_tokens.ts';
import { metadata } from './metadata.ts';
import { passwordGrant } from './password_grant.ts';
import { refreshTokens } from './refresh_tokens.ts';
import { revokeTokens } from './revoke_tokens.ts';
import { introspectToken, loadOauthToken, describeToken } from './introspection.ts';
import { getSource } from '../../core/access/open_call.ts';

const paths = [
  'grant_type',
  'client_id',
  'client_secret',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'username',
  'password',
  'scope',
  'token',
  'token_type_hint',
];

/** Converts the parameters to single texts. Empty texts are dropped (RFC 6749, 3.1). */
const toForm = (sent: RawParams): Form => {
  const form: Record<string, string> = {};
  for (const name of paths) {
    const value = sent[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be given once, as text.`);
    // Stored texts have no NUL, and PostgreSQL refuses to search for one.
    if (value.includes('\0') || !value.isWellFormed()) throw invalidRequest(`${name} is not text.`);
    form[name] = value;
  }
  return form;
};

/** Reads the form from the body only, for URLs end up in logs (RFC 6749, 2.3.1). */
const readForm = async ({ method, headers, body }: FastifyRequest): Promise<Form> => {
  const read = async (): Promise<RawParams> => {
    try {
      return await parseBody(method, headers['content-type'], body as Buffer | undefined);
    } catch (error) {
      throw error instanceof Failure ? invalidRequest('The body cannot be read.') : error;
    }
  };
  return toForm(await read());
};

const issue = async (platform: Platform, request: FastifyRequest): Promise<TokenAnswer> => {
  const form = await readForm(request);
  const { authorization } = request.headers;
  const { db } = platform.store;
  const source = getSource(request);
  switch (form['grant_type']) {
    case 'authorization_code':
      return await exchangeCode(platform, source, await requireClient(db, authorization, form), form);
    case 'refresh_token':
      return await refreshTokens(platform, source, await authenticateClient(db, authorization, form), form);
    case 'password':
      return await passwordGrant(platform, source, await authenticateClient(db, authorization, form), form);
    case undefined:
      throw invalidRequest('Missing required parameter: grant_type.');
    default:
      throw oauthFailure(
        'unsupported_grant_type',
        'The authorization grant type is not supported by the authorization server.',
      );
  }
};

/** RFC 7009. Revokes a token, unless it belongs to another client; unknown tokens are not an error. */
const revoke = async ({ store }: Platform, request: FastifyRequest): Promise<object> => {
  const form = await readForm(request);
  const client = await authenticateClient(store.db, request.headers.authorization, form);
  if (form['token'] === undefined) throw invalidRequest('Missing required parameter: token.');
  const token = await loadOauthToken(store.db, form['token']);
  if (token === undefined) return {};
  if (token.application_id !== (client?.id ?? null)) throw notOfClient();
  const cause = { user: { id: token.user_id }, sudo_by_id: null };
  const which = token.family === null ? { id: token.id } : { family: token.family };
  const reason = 'by the client';
  await store.write(async (tx) => await revokeTokens(tx, cause, getSource(request), { ...which, reason }));
  return {};
};

const introspect = async ({ store, clock }: Platform, request: FastifyRequest): Promise<object> => {
  const form = await readForm(request);
  const client = await requireClient(store.db, request.headers.authorization, form);
  // A client without a secret cannot be authenticated.
  if (!client.confidential) throw notOfClient();
  if (form['token'] === undefined) throw invalidRequest('Missing required parameter: token.');
  return await introspectToken(store.db, client, form['token'], clock.now());
};

const info = async ({ store, clock }: Platform, request: FastifyRequest): Promise<object> => {
  const presented = readPresentedToken(request.headers, request.query as RawParams);
  const text = presented?.via === 'bearer' ? presented.text : null;
  return await describeToken(store.db, text, clock.now());
};

type Answer = (platform: Platform, request: FastifyRequest) => Promise<object>;

export const mountOauth = (routes: RouteTable, platform: Platform): void => {
  const mount = (method: 'GET' | 'POST', url: string, answer: Answer): void => {
    routes.add({
      method,
      url,
      handler: async (request, reply) =>
        await reply
          .headers({ ...noStore, 'content-type': 'application/json' })
          .send(Buffer.from(JSON.stringify(await answer(platform, request)))),
    });
  };
  mount('POST', '/oauth/token', issue);
  mount('POST', '/oauth/revoke', revoke);
  mount('POST', '/oauth/introspect', introspect);
  mount('GET', '/oauth/token/info', info);
  mount('GET', '/.well-known/oauth-authorization-server', async ({ config, settings }, request) =>
    metadata(getBaseUrl(request, config.external_url), settings.current),
  );
};
