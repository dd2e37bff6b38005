/** The headers of every page. */

type Given = {
  /** Origins to which forms may lead, beside our own. */
  formOrigins: readonly string[];
  isHttps: boolean;
  /** URL of the one script that runs; it may ask our origin. */
  script?: string;
};

/** An origin or a scheme, as a source of the policy: of anything else, a part could be read as a rule of its own. */
const isSource = (origin: string): boolean =>
  /^[\w+.-]+:(?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?)?$/i.test(origin);

/** No frame, no plugin, nothing from elsewhere, nothing inline; and no script, but for the one that is named. */
const policyOf = ({ formOrigins, script }: Given): string =>
  [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${script}`, "connect-src 'self'"]),
    "style-src 'self'",
    "img-src 'self'",
    ['form-action', "'self'", ...new Set(formOrigins.filter(isSource))].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const pageHeaders = (given: Given): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(given),
  'x-frame-options': 'DENY',
  // Not `no-referrer`: a form would be sent with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'private, no-store',
  ...(given.isHttps && { 'strict-transport-security': 'max-age=31536000' }),
});
