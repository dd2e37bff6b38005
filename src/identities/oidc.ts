/** The way to an OpenID Connect provider and back. The library is loaded when somebody first goes it. */
import { hash } from 'node:crypto';
import type { Configuration } from 'openid-client';
import type { SignInProvider } from '../sign_in_providers.ts';

/** What a provider says of somebody. */
export type Claims = {
  sub: string;
  email: string | null;
  email_verified: boolean;
  name: string | null;
  /** A user name, as he would have it. */
  preferred_username: string | null;
};

export type Proofs = { state: string; nonce: string; verifier: string };

const library = async () => await import('openid-client');

/** Seconds that a provider has to answer. */
const patience = 10;
/** Milliseconds after which a provider is asked anew where it answers. */
const discoveryLife = 3_600_000;

const discover = async (provider: SignInProvider): Promise<Configuration> => {
  const client = await library();
  const { issuer, client_id, client_secret } = provider;
  const isLocal = issuer.startsWith('http:');
  const found = await client.discovery(new URL(issuer), client_id, undefined, undefined, {
    timeout: patience,
    ...(isLocal && { execute: [client.allowInsecureRequests] }),
  });
  const server = found.serverMetadata();
  // Basic is what every provider takes that does not say otherwise.
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(client_secret)
    : client.ClientSecretPost(client_secret);
  const configuration = new client.Configuration(server, client_id, undefined, authentication);
  configuration.timeout = patience;
  if (isLocal) client.allowInsecureRequests(configuration);
  client.enableNonRepudiationChecks(configuration);
  return configuration;
};

const known = new WeakMap<SignInProvider, { at: number; configuration: Promise<Configuration> }>();

const configurationOf = async (provider: SignInProvider, now: number): Promise<Configuration> => {
  const last = known.get(provider);
  if (last !== undefined && Math.abs(now - last.at) < discoveryLife) return await last.configuration;
  const configuration = discover(provider);
  known.set(provider, { at: now, configuration });
  try {
    return await configuration;
  } catch (error) {
    known.delete(provider);
    throw error;
  }
};

/**
 * Where the browser goes.
 * @throws Error where the provider does not answer as one
 */
export const providerUrl = async (
  provider: SignInProvider,
  redirect_uri: string,
  { state, nonce, verifier }: Proofs,
  now: number,
): Promise<string> => {
  const configuration = await configurationOf(provider, now);
  const { buildAuthorizationUrl } = await library();
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri,
    scope: provider.scopes,
    state,
    nonce,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  });
  return url.href;
};

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && !value.includes('\0') && value.isWellFormed()
    ? value.trim()
    : null;

/**
 * Who came back, by the provider's signed word.
 * @param url with all that the provider sent along
 * @throws Error for anything that is not to the letter
 */
export const claimsOf = async (
  provider: SignInProvider,
  url: URL,
  { state, nonce, verifier }: Proofs,
  now: number,
): Promise<Claims> => {
  const configuration = await configurationOf(provider, now);
  const client = await library();
  const tokens = await client.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const signed = tokens.claims();
  const sub = textOf(signed?.sub);
  if (signed === undefined || sub === null || sub.length > 255) throw new Error('no usable subject');
  const hasMore =
    signed['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
  const more = hasMore ? await client.fetchUserInfo(configuration, tokens.access_token, signed.sub) : {};
  const all: Record<string, unknown> = { ...more, ...signed };
  return {
    sub,
    email: textOf(all['email']),
    email_verified: all['email_verified'] === true,
    name: textOf(all['name']),
    preferred_username: textOf(all['preferred_username']) ?? textOf(all['nickname']),
  };
};
