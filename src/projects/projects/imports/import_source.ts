/** Reads the address of a repository to import. Pure. */
import { seal, unseal } from '../../../core/access/credentials/encrypt_secrets.ts';
import type { Platform } from '../../../core/platform.ts';
import { getPort, isListed, isPublicHost } from '../../../platform/addresses/allowed_addresses.ts';
import type { AddressRules } from '../../../platform/addresses/checked_request.ts';
import { type Failure, invalid } from '../../../platform/errors.ts';

export type Credentials = { username: string; password: string };

export type ImportSource = {
  /** Without user name and password. */
  url: string;
  /** null: none are sent. */
  credentials: Credentials | null;
};

export const maxUrlLength = 2_000;

const refused = (problem: string): Failure => invalid({ import_url: [problem] });

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const parseUrl = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !/^[a-z]+:\/\/[^\s\p{Cc}]+$/iu.test(text)) throw refused('is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused('must begin with http:// or https://');
  if (url.search !== '' || url.hash !== '') throw refused('must not contain ? or #');
  return url;
};

/**
 * Refuses a host that plainly is this machine or a private address, unless the settings allow it. Names are resolved at
 * the import.
 */
const requireAllowedHost = (url: URL, { isLocalAllowed, allowedHosts }: AddressRules): void => {
  const [host, port] = [url.hostname, getPort(url)];
  if (isPublicHost(host) || isLocalAllowed || isListed(allowedHosts, { host, port, address: null })) return;
  throw refused('is blocked: Requests to the local network are not allowed');
};

/**
 * Reads an address and its user name and password.
 * @param given replaces the user name and password in the address, if it has any
 * @throws Failure 400
 */
export const readImportSource = (
  text: string,
  rules: AddressRules,
  sentCredentials: Credentials = { username: '', password: '' },
): ImportSource => {
  const url = parseUrl(text.trim());
  requireAllowedHost(url, rules);
  const inUrl = { username: decode(url.username), password: decode(url.password) };
  const credentials =
    sentCredentials.username === '' && sentCredentials.password === '' ? inUrl : sentCredentials;
  if (credentials.username.includes(':')) throw invalid({ username: ['must not contain a colon'] });
  url.username = '';
  url.password = '';
  const hasNone = credentials.username === '' && credentials.password === '';
  return { url: url.href, credentials: hasNone ? null : credentials };
};

type Keys = Pick<Platform, 'secrets'>;

const purpose = 'import';

export const sealCredentials = ({ secrets }: Keys, credentials: Credentials | null): string | null =>
  credentials === null ? null : seal(secrets.encryption_key, purpose, JSON.stringify(credentials));

export const unsealCredentials = ({ secrets }: Keys, sealed: string | null): Credentials | null =>
  sealed === null ? null : (JSON.parse(unseal(secrets.encryption_key, purpose, sealed)) as Credentials);
