/** Files at fixed addresses, which browsers, crawlers and password managers ask for. */
import { notFound } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { dayMilliseconds, formatTime } from '../../../../platform/time.ts';
import { assets, findAsset } from '../../assets.ts';
import { type AnyPage, RawPage, type Visit, page, redirect } from '../../page.ts';
import { robotsText } from './robots.ts';

const textFile = (text: string): RawPage =>
  new RawPage(text, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=3600' });

const fileAt = (path: string, handle: AnyPage['handle']): AnyPage =>
  page({ method: 'GET', path, audience: 'anyone', withoutRequiredFactor: true, params: object({}), handle });

/** How long a copy of `security.txt` holds; RFC 9116 advises less than a year. */
const securityTextLife = 180 * dayMilliseconds;

/** Renders `security.txt` (RFC 9116). @throws Failure 404 if no contact is configured */
const securityText = ({ call: { platform, baseUrl, now } }: Visit): string => {
  const { security_contact: contact } = platform.config;
  if (contact === null) throw notFound();
  // By day, so that all copies of a day are alike.
  const expires = formatTime(Math.floor((now + securityTextLife) / dayMilliseconds) * dayMilliseconds);
  return `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${baseUrl}/.well-known/security.txt\n`;
};

export const pages = [
  fileAt('/robots.txt', async () => textFile(robotsText)),
  fileAt('/favicon.ico', async () => {
    const icon = findAsset(assets().favicon, undefined);
    if (icon === null) throw notFound();
    return new RawPage(icon.content, { 'content-type': icon.type, 'cache-control': 'public, max-age=86400' });
  }),
  fileAt('/.well-known/security.txt', async (visit) => textFile(securityText(visit))),
  fileAt('/.well-known/change-password', async () => redirect('/profile/password')),
];
