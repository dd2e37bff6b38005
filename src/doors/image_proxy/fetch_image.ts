/**
 * Loads an image of another site. Each address, also of a redirect, is checked like that of a webhook. The other site
 * learns nothing of the viewer: no address, cookie, referrer or browser.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Lookup } from '../../platform/addresses/cached_lookup.ts';
import {
  type AddressRules,
  getResponse,
  openCheckedRequest,
} from '../../platform/addresses/checked_request.ts';
import { maxSvgBytes, svgType } from '../../platform/http/svg.ts';
import { hourMilliseconds, minuteMilliseconds } from '../../platform/time.ts';

export type FetchedImage = {
  type: string;
  content: Buffer;
  /** Milliseconds for which it may be shown again. */
  freshFor: number;
};

export const userAgent = 'Gantry-Image-Proxy';

const mebibyte = 1024 * 1024;
const maxBytes = 5 * mebibyte;
const maxMilliseconds = 10_000;
const maxRedirects = 3;

/** Types that browsers show in `<img>` and that cannot be read as a document with scripts; SVG has its own policy. */
const types: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  svgType,
]);

const headers = { accept: [...types].join(', '), 'accept-encoding': 'identity', 'user-agent': userAgent };

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const usualFreshness = hourMilliseconds;
const [leastFreshness, mostFreshness] = [5 * minuteMilliseconds, 24 * hourMilliseconds];

/** Returns how long the answer may be kept. A badge says five minutes, and some sites forbid to keep anything. */
const readFreshness = ({ headers: { 'cache-control': control = '' } }: IncomingMessage): number => {
  if (/\b(?:no-store|no-cache|private)\b/i.test(control)) return leastFreshness;
  const seconds = /\b(?:s-maxage|max-age)=(\d{1,9})/i.exec(control)?.[1];
  const milliseconds = seconds === undefined ? usualFreshness : Number(seconds) * 1_000;
  return Math.min(mostFreshness, Math.max(leastFreshness, milliseconds));
};

const readType = ({ headers: { 'content-type': type = '' } }: IncomingMessage): string | null => {
  const [name = ''] = type.split(';');
  const plain = name.trim().toLowerCase();
  return types.has(plain) ? plain : null;
};

/** Returns the content; null if it is too large. */
const readContent = async (response: IncomingMessage, most: number): Promise<Buffer | null> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most) return null;
    parts.push(part);
  }
  return response.complete && bytes > 0 ? Buffer.concat(parts) : null;
};

const readImage = async (response: IncomingMessage): Promise<FetchedImage | null> => {
  const type = readType(response);
  const { 'content-length': length = '0', 'content-encoding': encoding = 'identity' } = response.headers;
  if (response.statusCode !== 200 || type === null || encoding !== 'identity') return null;
  const most = type === svgType ? maxSvgBytes : maxBytes;
  if (Number(length) > most) return null;
  const content = await readContent(response, most);
  return content === null ? null : { type, content, freshFor: readFreshness(response) };
};

/** Returns the address of a redirect; null if there is none that may be followed. */
const readTarget = ({ headers: { location = '' } }: IncomingMessage, from: URL): URL | null => {
  const target = URL.parse(location, from);
  if (target === null || !/^https?:$/.test(target.protocol)) return null;
  [target.username, target.password] = ['', ''];
  return target;
};

type Following = {
  rules: AddressRules;
  lookup: Lookup | undefined;
  opened: (request: ClientRequest) => void;
};

const follow = async (start: URL, { rules, lookup, opened }: Following): Promise<FetchedImage | null> => {
  let url: URL | null = start;
  for (let hops = 0; hops <= maxRedirects && url !== null; hops += 1) {
    const options = { method: 'GET' as const, headers, rules, verifiesCertificate: true, lookup };
    const request = await openCheckedRequest(url, options);
    opened(request);
    try {
      const response = await getResponse(request, '');
      if (!redirects.has(response.statusCode ?? 0)) return await readImage(response);
      url = readTarget(response, url);
    } finally {
      request.on('error', () => undefined).destroy();
    }
  }
  return null;
};

/** Loads the image; null if the answer is not an image, is too large, takes too long, or must not be reached. */
export const fetchImage = async (
  url: string,
  rules: AddressRules,
  { lookup, milliseconds = maxMilliseconds }: { lookup?: Lookup; milliseconds?: number } = {},
): Promise<FetchedImage | null> => {
  let request: ClientRequest | null = null;
  let isLate = false;
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => {
    isLate = true;
    request?.destroy();
    late.resolve(null);
  }, milliseconds);
  const opened = (one: ClientRequest): void => {
    request = one;
    if (isLate) one.destroy();
  };
  try {
    const work = follow(new URL(url), { rules, lookup, opened }).catch(() => null);
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
