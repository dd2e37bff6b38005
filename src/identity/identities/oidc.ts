/** The OpenID Connect exchange with a provider. The library is loaded on first use. */
import { hash } from 'node:crypto';
import type { Configuration } from 'openid-client';
import type { SignInProvider } from '../../platform/config/sign_in_providers.ts';
import { hourMilliseconds } from '../../platform/time.ts';

/** The provider's claims about a user. */
export type Claims = {
  sub: string;
  email: string | null;
  email_verified: boolean;
  name: string | null;
  /** The preferred user name. */
  preferred_username: string | null;
};

export type Proofs = { state: string; nonce: string; verifier: string };

const loadLibrary = async () => await import('openid-client');

/** Timeout of the provider in seconds. */
const timeout = 10;
/** Milliseconds after which a provider's configuration is fetched again. */
const discoveryLife = hourMilliseconds;

const discover = async (provider: SignInProvider): Promise<Configuration> => {
  const client = await loadLibrary();
  const { issuer, client_id, client_secret } = provider;
  const isLocal = issuer.startsWith('http:');
  const discovered = await client.discovery(new URL(issuer), client_id, undefined, undefined, {
    timeout,
    ...(isLocal && { execute: [client.allowInsecureRequests] }),
  });
  const server = discovered.serverMetadata();
  // Basic is the default method of providers.
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(client_secret)
    : client.ClientSecretPost(client_secret);
  const configuration = new client.Configuration(server, client_id, undefined, authentication);
  configuration.timeout = timeout;
  if (isLocal) client.allowInsecureRequests(configuration);
  client.enableNonRepudiationChecks(configuration);
  return configuration;
};

const cache = new WeakMap<SignInProvider, { at: number; configuration: Promise<Configuration> }>();

const getConfiguration = async (provider: SignInProvider, now: number): Promise<Configuration> => {
  const last = cache.get(provider);
  if (last !== undefined && Math.abs(now - last.at) < discoveryLife) return await last.configuration;
  const configuration = discover(provider);
  cache.set(provider, { at: now, configuration });
  try {
    return await configuration;
  } catch (error) {
    cache.delete(provider);
    throw error;
  }
};

/**
 * Returns the URL at the provider to which the browser is redirected.
 * @throws Error if the provider does not answer correctly
 */
export const providerUrl = async (
  provider: SignInProvider,
  redirect_uri: string,
  { state, nonce, verifier }: Proofs,
  now: number,
): Promise<string> => {
  const configuration = await getConfiguration(provider, now);
  const { buildAuthorizationUrl } = await loadLibrary();
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

const toTextOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && !value.includes('\0') && value.isWellFormed()
    ? value.trim()
    : null;

/**
 * Exchanges the callback for the user's signed claims.
 * @param url the callback with the parameters of the provider
 * @throws Error for any invalid response
 */
export const exchangeClaims = async (
  provider: SignInProvider,
  url: URL,
  { state, nonce, verifier }: Proofs,
  now: number,
): Promise<Claims> => {
  const configuration = await getConfiguration(provider, now);
  const client = await loadLibrary();
  const tokens = await client.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const signed = tokens.claims();
  const sub = toTextOrNull(signed?.sub);
  if (signed === undefined || sub === null || sub.length > 255) throw new Error('no usable subject');
  const hasMore =
    signed['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
  const more = hasMore ? await client.fetchUserInfo(configuration, tokens.access_token, signed.sub) : {};
  const claims: Record<string, unknown> = { ...more, ...signed };
  return {
    sub,
    email: toTextOrNull(claims['email']),
    email_verified: claims['email_verified'] === true,
    name: toTextOrNull(claims['name']),
    preferred_username: toTextOrNull(claims['preferred_username']) ?? toTextOrNull(claims['nickname']),
  };
};
