/** Reads the configuration of external sign-in providers. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** An OpenID Connect provider. `label` is shown, `name` is part of URLs and settings. */
export type SignInProvider = {
  name: string;
  label: string;
  issuer: string;
  client_id: string;
  client_secret: string;
  /** Separated by blanks. */
  scopes: string;
};

const providerNames = ['name', 'label', 'issuer', 'client_id', 'client_secret', 'scopes'];

/** Returns whether a URL can be an issuer: HTTPS, or any scheme for a provider on this machine. */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text);
  const isLocal = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url?.protocol === 'https:' || (isLocal && url.protocol === 'http:');
};

const readProvider = (value: unknown, at: number): SignInProvider => {
  const fail = (problem: string): never => {
    throw new Error(`has as provider ${at + 1} ${problem}`);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('no object');
  const values = { scopes: 'openid email profile', ...value } as Record<string, unknown>;
  const unknown = Object.keys(values).find((name) => !providerNames.includes(name));
  if (unknown !== undefined) return fail(`one with ${JSON.stringify(unknown)}, which means nothing`);
  const wrong = providerNames.find((name) => typeof values[name] !== 'string' || values[name] === '');
  if (wrong !== undefined) return fail(`one without ${wrong}`);
  const provider = values as SignInProvider;
  if (!/^[a-z0-9_-]{1,64}$/.test(provider.name)) return fail('a name with more than a-z, 0-9, _ and -');
  if (!isIssuer(provider.issuer)) return fail('an issuer that is not an https:// URL');
  return provider.scopes.split(' ').includes('openid') ? provider : fail('scopes without openid');
};

const fileText = (path: string): string => {
  try {
    return readFileSync(resolve(path), 'utf8');
  } catch {
    // Do not repeat the system's message: it quotes the text, which may be a secret instead of a path.
    throw new Error('names a file that cannot be read');
  }
};

/**
 * Parses the providers from JSON, or from the file that contains it.
 * @throws Error whose message reveals no value
 */
export const readProviders = (text: string): SignInProvider[] => {
  const json = text.trimStart().startsWith('[') ? text : fileText(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // Do not repeat the parser's message: it may quote a secret.
    throw new Error('is not JSON');
  }
  if (!Array.isArray(value)) throw new Error('is not a JSON array');
  const providers = value.map(readProvider);
  const names = new Set(providers.map(({ name }) => name));
  if (names.size < providers.length) throw new Error('names a provider twice');
  return providers;
};
