/** Loads the README and the license of a folder, cached by commit. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { findLicense, findReadme } from '../../../projects/projects/related/root_files.ts';
import type { Code } from '../find_code.ts';
import { listFolder } from './list_folder.ts';

export type ReadmeAndLicense = {
  /** null if the folder has none. Without a text it is too large or binary. */
  readme: { path: string; text: string | null } | null;
  license: { path: string; name: string } | null;
};

/** Larger READMEs are not shown. */
const maxReadmeBytes = 256 * 1024;
const maxLicenseBytes = 64 * 1024;
/** Entries of a large root in which files are looked for. */
const maxEntries = 2_000;
const maxCachedBytes = 8 * 1024 * 1024;
/** Memory of a cached entry in addition to its text, in bytes. */
const overhead = 400;

const cache = makeLruCache<ReadmeAndLicense>(
  maxCachedBytes,
  ({ readme }) => (readme?.text?.length ?? 0) * 2 + overhead,
);

const readText = async (
  { repository }: Code,
  commit: Oid,
  { path, max }: { path: string; max: number },
): Promise<string | null> => {
  const { result, body } = await repository.read('blob.at', { commit, path, max });
  if (result?.whole !== true || body.includes(0)) return null;
  return body.toString('utf8');
};

/** The first line of a license names it, mostly: `MIT License`. */
const licenseName = (text: string | null): string => {
  const line =
    (text ?? '')
      .split('\n')
      .map((one) => one.trim())
      .find((one) => one !== '') ?? '';
  return line.length > 0 && line.length <= 60 && /license|licence|copying/i.test(line) ? line : 'License';
};

const readTexts = async (code: Code, commit: Oid, path: string): Promise<ReadmeAndLicense> => {
  const listing = await listFolder(code, { commit, path, offset: 0, limit: maxEntries });
  const entries = listing?.entries ?? [];
  const [readme, license] = [findReadme(entries), findLicense(entries)];
  const [readmeText, licenseText] = await Promise.all([
    readme === undefined ? null : readText(code, commit, { path: readme.path, max: maxReadmeBytes }),
    license === undefined ? null : readText(code, commit, { path: license.path, max: maxLicenseBytes }),
  ]);
  return {
    readme: readme === undefined ? null : { path: readme.path, text: readmeText },
    license: license === undefined ? null : { path: license.path, name: licenseName(licenseText) },
  };
};

/** Loads the README and the license of a folder that the caller may read. @param path empty: the root */
export const loadReadmeAndLicense = async (
  code: Code,
  commit: Oid,
  path: string,
): Promise<ReadmeAndLicense> => {
  const key = `${code.repository.path} ${commit} ${path}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const texts = await readTexts(code, commit, path);
  cache.set(key, texts);
  return texts;
};
