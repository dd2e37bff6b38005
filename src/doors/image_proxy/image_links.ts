/** Signs the addresses of images of other sites, so that the service loads only those that it rendered itself. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Characters of the longest address that is loaded. */
export const maxImageUrlLength = 2_000;

const sign = (key: string, url: string): string =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(url).digest('base64url');

/** Derives the key of the addresses from a secret of the instance. */
export const deriveImageKey = (secret: string): string =>
  createHmac('sha256', Buffer.from(secret, 'hex')).update('image proxy').digest('hex');

/** Returns whether the service loads images from such an address: HTTP, no credentials, not too long. */
const isLoadable = ({ href, protocol, username, password }: URL): boolean =>
  /^https?:$/.test(protocol) && username === '' && password === '' && href.length <= maxImageUrlLength;

/**
 * Returns the path at which the service shows an image of another site; null if it does not load from there.
 * @param url absolute
 */
export const imagePath = (key: string, url: string): string | null => {
  const parsed = URL.parse(url);
  if (parsed === null || !isLoadable(parsed)) return null;
  parsed.hash = '';
  const { href } = parsed;
  return `/-/image/${sign(key, href)}/${Buffer.from(href).toString('base64url')}`;
};

/** Returns the address in a path that `imagePath` made; null for any other. */
export const readImageUrl = (key: string, signature: string, encoded: string): string | null => {
  const url = Buffer.from(encoded, 'base64url').toString();
  const [expected, actual] = [Buffer.from(sign(key, url)), Buffer.from(signature)];
  return expected.length === actual.length && timingSafeEqual(expected, actual) ? url : null;
};
