/** The files that a configuration is made of, out of repositories. */
import { isUtf8 } from 'node:buffer';
import type { Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Fetch, FetchProblem, IncludedFile, Wanted } from '../ci_file/include_wanted.ts';
import { Failure } from '../errors.ts';
import type { Oid } from '../git/protocol_types.ts';
import { type Project, findProject } from '../projects/find.ts';
import { type Code, sightOf } from '../repository/code.ts';
import { repositoryOf } from '../repository/open.ts';
import { isPlainPath } from '../repository/paths.ts';
import { resolveRevision } from '../repository/resolve.ts';
import { remoteFile } from './remote_file.ts';

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

/** `path@group/project`, `path@group/project:ref`: a file of another project; null: it is one of its own. */
const elsewhere = (path: string) => {
  const [, file, project, ref] = /^(.+?\.ya?ml)@([^:]+)(?::(.+))?$/.exec(path) ?? [];
  return file === undefined ? null : { project, file, ...(ref !== undefined && { ref }) };
};

/** What includes a project's configuration. */
export const configInclude = (project: Pick<Project, 'ci_config_path'>): object =>
  elsewhere(configPathOf(project)) ?? { local: configPathOf(project) };

/** A commit of a project: what `local` includes of its files mean. */
export type Origin = { code: Code; commit: Oid };

type ReadFile = { text: string } | { problem: 'missing' | 'unreadable' };

/** A file of a commit, as text. */
const readText = async ({ code, commit }: Origin, path: string): Promise<ReadFile> => {
  if (path === '' || !isPlainPath(path)) return { problem: 'missing' };
  const { result, body } = await code.repository.read('blob.at', { commit, path, max: largestFile });
  if (result === null) return { problem: 'missing' };
  return result.whole && isUtf8(body) ? { text: body.toString('utf8') } : { problem: 'unreadable' };
};

/**
 * A project's configuration at a commit. One that lies in another project is included, and so read with the rights of
 * whoever makes the pipeline.
 */
export const readProjectConfig = async (origin: Origin): Promise<ReadFile> => {
  const { project } = origin.code;
  const path = configPathOf(project);
  if (elsewhere(path) === null) return await readText(origin, path);
  return { text: JSON.stringify({ include: [configInclude(project)] }) };
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

type Text = { text: string } | { problem: FetchProblem };

/** What a job of the pipeline above left at a path. */
export type ReadLeft = (job: string, path: string) => Promise<Text>;

const leftFile = async (read: ReadLeft, { job, path }: Wanted & { type: 'artifact' }): Promise<Fetched> => {
  const left = await read(job, path);
  // It is of no commit: it names no local files.
  return 'problem' in left ? left : { files: [{ name: path, text: left.text, origin: null }] };
};

/** It is of no project: it names no local files. */
const shippedFile = async (name: string): Promise<Fetched> => {
  const { templateText } = await import('../ci_file/templates.ts');
  const text = templateText(name);
  return text === null ? { problem: 'missing' } : { files: [{ name, text, origin: null }] };
};

export type Sources = {
  /** Whose files may be included over the net. */
  origins: readonly string[];
  left?: ReadLeft | undefined;
};

/** Reads what configurations include: out of the repositories that `find` lets be read, and out of these sources. */
export const fetchFrom =
  (find: FindCode, { origins, left }: Sources): Fetch =>
  async (wanted, origin) => {
    if (wanted.type === 'artifact' && left !== undefined) return await leftFile(left, wanted);
    if (wanted.type === 'local') return await localFiles(origin as Origin | null, wanted.path);
    if (wanted.type === 'file') return await projectFile(find, wanted);
    if (wanted.type === 'remote') return await remoteFile(origins, wanted);
    return wanted.type === 'template' ? await shippedFile(wanted.name) : { problem: 'refused' };
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
    const sight = sightOf(platform.store.db, viewer, project);
    return { project, repository: repositoryOf(platform, project), sight };
  };
