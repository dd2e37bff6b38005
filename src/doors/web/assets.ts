/** The styles, scripts and icons of pages, which `build.ts` writes to `dist/assets`. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packageRoot } from '../../platform/package_files.ts';

type Name = 'style' | 'docs' | 'script' | 'editor_tools' | 'icons' | 'favicon';

const folder = join(packageRoot, 'dist/assets');
const prefix = '/-/assets/';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const readManifest = (): Record<Name, string> => {
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<Name, string>;
  } catch (error) {
    throw new Error('dist/assets is missing: run "npm run build"', { cause: error });
  }
};

let paths: Record<Name, string> | undefined;

/** Returns the path of each asset. @throws Error if the assets were not built */
export const assets = (): Record<Name, string> => {
  paths ??= Object.fromEntries(
    Object.entries(readManifest()).map(([name, file]) => [name, prefix + file]),
  ) as Record<Name, string>;
  return paths;
};

export type Asset = { type: string; encoding: 'br' | 'gzip' | null; content: Buffer };

const contents = new Map<string, Buffer>();

const readOnce = (file: string): Buffer => {
  const content = contents.get(file) ?? readFileSync(join(folder, file));
  contents.set(file, content);
  return content;
};

const accepts = (header: string | undefined, encoding: string): boolean =>
  header
    ?.split(',')
    .some((token) => token.trim() === encoding || token.trim().startsWith(`${encoding};q=1`)) === true;

/**
 * Returns the asset at a path, compressed if the client accepts that; null if it does not exist.
 * @param accepted the request's `Accept-Encoding`
 */
export const findAsset = (path: string, accepted: string | undefined): Asset | null => {
  if (!Object.values(assets()).includes(path)) return null;
  const file = path.slice(prefix.length);
  const type = types[extname(file)] ?? 'application/octet-stream';
  if (accepts(accepted, 'br')) return { type, encoding: 'br', content: readOnce(`${file}.br`) };
  if (accepts(accepted, 'gzip')) return { type, encoding: 'gzip', content: readOnce(`${file}.gz`) };
  return { type, encoding: null, content: readOnce(file) };
};
