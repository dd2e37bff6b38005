/** Builds the headers of every page. */

type PageSources = {
  /** Origins, other than our own, to which forms may lead. */
  formOrigins: readonly string[];
  isHttps: boolean;
  /** Origins, other than our own, whose images pages show. */
  imageOrigins?: readonly string[];
  /** True if audio and video of our own origin may be played. */
  hasMedia?: boolean;
  /** URLs of the only scripts that run; they may connect to our origin. Without them, no script runs. */
  scripts?: readonly string[];
};

/** Checks for an origin or a scheme: any other text could add a directive to the policy. */
const isSource = (origin: string): boolean =>
  /^[\w+.-]+:(?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?)?$/i.test(origin);

/** Forbids frames, plugins, external and inline resources, and all scripts except the named scripts. */
const policyOf = ({ formOrigins, scripts = [], imageOrigins = [], hasMedia = false }: PageSources): string =>
  [
    "default-src 'none'",
    ...(scripts.length === 0 ? [] : [`script-src ${scripts.join(' ')}`, "connect-src 'self'"]),
    "style-src 'self'",
    ['img-src', "'self'", ...new Set(imageOrigins.filter(isSource))].join(' '),
    ...(hasMedia ? ["media-src 'self'"] : []),
    ['form-action', "'self'", ...new Set(formOrigins.filter(isSource))].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const pageHeaders = (sources: PageSources): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(sources),
  'x-frame-options': 'DENY',
  // Not `no-referrer`, because forms would be sent with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'private, no-store',
  ...(sources.isHttps && { 'strict-transport-security': 'max-age=31536000' }),
});
