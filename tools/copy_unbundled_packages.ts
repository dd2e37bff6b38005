/**
 * Copies the packages that `dist/` loads at run time, with what they depend on, into a folder: all that an image needs.
 *
 *   node tools/copy_unbundled_packages.ts FOLDER
 */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** `build.ts` leaves the first two out; the others are loaded by name with their first use. */
const unbundled = ['ssh2', '@simplewebauthn/server', 'highlight.js', 'fast-json-stringify'];

/** Finds a dependency as Node does: in the package's own folder, then in those around it. */
const locate = (name: string, from: string): string | null => {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(root, folder))) return folder;
  return from === '.' ? null : locate(name, dirname(from));
};

/** Adds a package and what it depends on, each by its folder in the clone. */
const addPackage = (name: string, from: string, folders: Set<string>): void => {
  const folder = locate(name, from);
  // A package that is optional may be missing.
  if (folder === null || folders.has(folder)) return;
  folders.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const needed of Object.keys(dependencies)) addPackage(needed, folder, folders);
};

/** Lists the folders of the packages, such as `node_modules/ssh2`. */
export const listUnbundledPackages = (): string[] => {
  const folders = new Set<string>();
  for (const name of unbundled) addPackage(name, '.', folders);
  return [...folders];
};

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('name the folder to copy to');
  for (const folder of listUnbundledPackages())
    cpSync(join(root, folder), join(target, folder), { recursive: true });
}
