/** The headers of every page. */

type Given = {
  /** Origins to which forms may lead, beside our own. */
  formOrigins: readonly string[];
  isHttps: boolean;
};

/** No script, no frame, no plugin, nothing from elsewhere, and nothing inline. */
const policyOf = (formOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ['form-action', "'self'", ...new Set(formOrigins)].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const pageHeaders = ({ formOrigins, isHttps }: Given): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(formOrigins),
  'x-frame-options': 'DENY',
  // Not `no-referrer`: a form would be sent with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'private, no-store',
  ...(isHttps && { 'strict-transport-security': 'max-age=31536000' }),
});
