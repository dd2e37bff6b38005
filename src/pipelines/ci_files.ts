/** The files that a configuration is made of, out of repositories. */
import { isUtf8 } from 'node:buffer';
import type { Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Fetch, IncludedFile, Wanted } from '../ci_file/include_wanted.ts';
import { Failure } from '../errors.ts';
import type { Oid } from '../git/protocol_types.ts';
import { type Project, findProject } from '../projects/find.ts';
import type { Code } from '../repository/code.ts';
import { repositoryOf } from '../repository/open.ts';
import { isPlainPath } from '../repository/paths.ts';
import { resolveRevision } from '../repository/resolve.ts';

/** Bytes of one file of a configuration. */
const largestFile = 1_048_576;
/** Paths of a commit that patterns are held against. */
const mostPaths = 200_000;
/** Files that one pattern of `include: local` may bring. */
const mostMatches = 150;

const usualPath = '.gitlab-ci.yml';

/** Where a project's configuration lies. */
export const configPathOf = ({ ci_config_path }: Pick<Project, 'ci_config_path'>): string =>
  ci_config_path === null || ci_config_path.trim() === '' ? usualPath : ci_config_path.replace(/^\/+/, '');

/** A commit of a project: what `local` includes of its files mean. */
export type Origin = { code: Code; commit: Oid };

type ReadFile = { text: string } | { problem: 'missing' | 'unreadable' };

/** A file of a commit, as text. */
export const readText = async ({ code, commit }: Origin, path: string): Promise<ReadFile> => {
  if (path === '' || !isPlainPath(path)) return { problem: 'missing' };
  const { result, body } = await code.repository.read('blob.at', { commit, path, max: largestFile });
  if (result === null) return { problem: 'missing' };
  return result.whole && isUtf8(body) ? { text: body.toString('utf8') } : { problem: 'unreadable' };
};

/** Every path of a commit that is a file. */
export const pathsOf = async ({ code, commit }: Origin): Promise<string[]> => {
  const all = { path: '', recursive: true, offset: 0, limit: mostPaths };
  const tree = await code.repository.ask('tree.list', { commit, ...all });
  return tree?.entries.filter(({ type }) => type === 'blob').map(({ path }) => path) ?? [];
};

const byPattern = async (origin: Origin, pattern: string): Promise<string[]> => {
  const { pathPattern } = await import('../ci_file/fnmatch.ts');
  const matches = pathPattern(pattern.replace(/\*\*$/, '**/*'));
  return (await pathsOf(origin)).filter(matches).slice(0, mostMatches + 1);
};

type Fetched = Awaited<ReturnType<Fetch>>;

const fileOf = async (origin: Origin, path: string): Promise<Fetched> => {
  const read = await readText(origin, path);
  return 'problem' in read ? read : { files: [{ name: path, text: read.text, origin }] };
};

const localFiles = async (origin: Origin | null, path: string): Promise<Fetched> => {
  if (origin === null) return { problem: 'homeless' };
  if (!path.includes('*')) return await fileOf(origin, path);
  const files: IncludedFile[] = [];
  for (const name of await byPattern(origin, path)) {
    // oxlint-disable-next-line no-await-in-loop -- one file in memory after another, in their order
    const read = await readText(origin, name);
    if ('text' in read) files.push({ name, text: read.text, origin });
  }
  return files.length === 0 ? { problem: 'missing' } : { files };
};

/** @param find the code of a project by its full path; null: there is none, or it is not to be read */
type FindCode = (path: string) => Promise<Code | null>;

const projectFile = async (find: FindCode, wanted: Wanted & { type: 'file' }): Promise<Fetched> => {
  const code = await find(wanted.project);
  if (code === null) return { problem: 'project' };
  const found = await resolveRevision(code, wanted.ref ?? 'HEAD');
  if (found === null) return { problem: 'reference' };
  return await fileOf({ code, commit: found.commit }, wanted.path);
};

/** Reads what configurations include, out of the repositories that `find` lets be read. Nothing comes from elsewhere. */
export const fetchFrom =
  (find: FindCode): Fetch =>
  async (wanted, origin) => {
    if (wanted.type === 'local') return await localFiles(origin as Origin | null, wanted.path);
    if (wanted.type === 'file') return await projectFile(find, wanted);
    return { problem: wanted.type === 'template' ? 'missing' : 'refused' };
  };

/** The code of a project that one may read, by its full path; null: he is told of none. */
export const readableCode =
  (platform: Platform, viewer: Viewer): FindCode =>
  async (path) => {
    const project = await findProject({ db: platform.store.db, viewer }, path).catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'not_found') return null;
      throw error;
    });
    if (project === null || !may(viewer, 'read_code', project)) return null;
    return { project, repository: repositoryOf(platform, project) };
  };
