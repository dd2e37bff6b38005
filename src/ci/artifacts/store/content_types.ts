const utf8 = '; charset=utf-8';

/** Content types by file extension, for files that are only ever downloaded. */
const endings: Record<string, string> = {
  [`text/plain${utf8}`]: 'txt log yml yaml',
  [`text/markdown${utf8}`]: 'md',
  [`text/html${utf8}`]: 'html htm',
  [`text/css${utf8}`]: 'css',
  [`text/javascript${utf8}`]: 'js mjs',
  [`text/xml${utf8}`]: 'xml',
  [`text/csv${utf8}`]: 'csv',
  'application/json': 'json',
  'application/xhtml+xml': 'xhtml',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz tgz',
  'application/x-tar': 'tar',
  'application/wasm': 'wasm',
  'application/java-archive': 'jar',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/x-icon': 'ico',
};

const types = new Map(
  Object.entries(endings).flatMap(([type, words]) =>
    words.split(' ').map((word): [string, string] => [word, type]),
  ),
);

export const getContentType = (name: string): string => {
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  return types.get(ending) ?? 'application/octet-stream';
};
