/** The endpoints that programs speak OAuth 2 with: below `/oauth`, outside of the API. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Platform } from '../access/call.ts';
import { presentedToken } from '../access/credential.ts';
import { Failure } from '../errors.ts';
import type { Source } from '../access/audit.ts';
import { parseBody } from '../http/body.ts';
import { baseUrlOf } from '../http/origin.ts';
import type { RawParams } from '../http/params.ts';
import { type Form, authenticateClient, requireClient } from './client.ts';
import { exchangeCode } from './exchange_code.ts';
import { invalidRequest, noStore, notOfClient, oauthFailure } from './failures.ts';
import type { TokenAnswer } from './issue.ts';
import { metadata } from './metadata.ts';
import { passwordGrant } from './password_grant.ts';
import { refreshTokens } from './refresh.ts';
import { revokeTokens } from './revoke.ts';
import { introspection, oauthToken, tokenInfo } from './tell.ts';

const known = [
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

/** Each parameter once, as text; an empty one is none (RFC 6749, 3.1). */
const formOf = (sent: RawParams): Form => {
  const form: Record<string, string> = {};
  for (const name of known) {
    const value = sent[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be given once, as text.`);
    // No stored text has a NUL, and PostgreSQL would refuse to look for one.
    if (value.includes('\0') || !value.isWellFormed()) throw invalidRequest(`${name} is not text.`);
    form[name] = value;
  }
  return form;
};

/** The body alone: what stands in a URL ends up in logs (RFC 6749, 2.3.1). */
const readForm = async ({ method, headers, body }: FastifyRequest): Promise<Form> => {
  const read = async (): Promise<RawParams> => {
    try {
      return await parseBody(method, headers['content-type'], body as Buffer | undefined);
    } catch (error) {
      throw error instanceof Failure ? invalidRequest('The body cannot be read.') : error;
    }
  };
  return formOf(await read());
};

const sourceOf = ({ ip, headers }: FastifyRequest): Source => ({
  ip,
  userAgent: headers['user-agent'] ?? '',
});

const issue = async (platform: Platform, request: FastifyRequest): Promise<TokenAnswer> => {
  const form = await readForm(request);
  const { authorization } = request.headers;
  const { db } = platform.store;
  const source = sourceOf(request);
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

/** RFC 7009: whoever has a token may end it, but for another client; one that is none is no fault. */
const revoke = async ({ store }: Platform, request: FastifyRequest): Promise<object> => {
  const form = await readForm(request);
  const client = await authenticateClient(store.db, request.headers.authorization, form);
  if (form['token'] === undefined) throw invalidRequest('Missing required parameter: token.');
  const token = await oauthToken(store.db, form['token']);
  if (token === undefined) return {};
  if (token.application_id !== (client?.id ?? null)) throw notOfClient();
  const cause = { user: { id: token.user_id }, sudo_by_id: null };
  const which = token.family === null ? { id: token.id } : { family: token.family };
  const reason = 'by the client';
  await store.write(async (tx) => await revokeTokens(tx, cause, sourceOf(request), { ...which, reason }));
  return {};
};

const introspect = async ({ store, clock }: Platform, request: FastifyRequest): Promise<object> => {
  const form = await readForm(request);
  const client = await requireClient(store.db, request.headers.authorization, form);
  // One that has no secret could be anybody.
  if (!client.confidential) throw notOfClient();
  if (form['token'] === undefined) throw invalidRequest('Missing required parameter: token.');
  return await introspection(store.db, client, form['token'], clock.now());
};

const info = async ({ store, clock }: Platform, request: FastifyRequest): Promise<object> => {
  const presented = presentedToken(request.headers, request.query as RawParams);
  const text = presented?.via === 'bearer' ? presented.text : null;
  return await tokenInfo(store.db, text, clock.now());
};

type Answer = (platform: Platform, request: FastifyRequest) => Promise<object>;

export const mountOauth = (app: FastifyInstance, platform: Platform): void => {
  const mount = (method: 'GET' | 'POST', url: string, answer: Answer): void => {
    app.route({
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
    metadata(baseUrlOf(request, config.external_url), settings.current),
  );
};
