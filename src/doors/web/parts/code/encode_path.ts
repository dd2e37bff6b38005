/** Encodes a ref or path for an address, slashes excepted. */
export const encodePath = (text: string): string =>
  text
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()))
    .join('/');
