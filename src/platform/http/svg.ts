/** Rules for serving SVG images of users: they are documents, which can contain scripts, links and URLs of files. */

export const svgType = 'image/svg+xml';

/** Bytes of the largest SVG image that is shown. Browsers take seconds to draw larger images. */
export const maxSvgBytes = 1024 * 1024;

/**
 * Headers of an SVG image. In an `<img>` nothing in it runs or loads. If the image is opened directly, the policy
 * allows only the drawing and its styles: no scripts, no forms, a separate origin without our cookies, and no fetches.
 * No page shows it in a frame, an `<object>` or an `<embed>`, where it would be such a document too.
 */
export const svgHeaders: Readonly<Record<string, string>> = {
  'content-type': svgType,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};
