/** How SVG images of users are served: they are documents, which can have scripts, links and addresses of files. */

export const svgType = 'image/svg+xml';

/** Bytes of the largest SVG image that is shown. Browsers take seconds to draw larger ones. */
export const maxSvgBytes = 1024 * 1024;

/**
 * Headers of an SVG image. In an `<img>` nothing in it runs or loads. Opened by its own address, the policy leaves the
 * drawing and its styles: no scripts, no forms, an origin of its own without our cookies, nothing that is fetched. No
 * page shows it in a frame, an `<object>` or an `<embed>`, where it would be such a document, too.
 */
export const svgHeaders: Readonly<Record<string, string>> = {
  'content-type': svgType,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};
