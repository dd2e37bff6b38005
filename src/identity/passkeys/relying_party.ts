import { isIP } from 'node:net';

/** The service as passkeys know it: browsers offer a passkey only to the host for which it was made. */
export type RelyingParty = { rpID: string; origin: string };

/**
 * Returns what passkeys are bound to; null: browsers offer none at this address, because it is not encrypted or has no
 * name.
 * @param baseUrl the address under which browsers reach the service
 */
export const toRelyingParty = (baseUrl: string): RelyingParty | null => {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return null;
  return protocol === 'https:' || isLocal ? { rpID: hostname, origin } : null;
};
