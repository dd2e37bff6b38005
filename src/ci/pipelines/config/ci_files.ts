/** Reads the files of a configuration and its includes from repositories, artifacts, templates and URLs. */
import { isUtf8 } from 'node:buffer';
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type {
  Fetch,
  FetchProblem,
  IncludedFile,
  IncludeTarget,
} from '../../ci_file/include/included_files.ts';
import { isNotFound } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { type Project, findProject } from '../../../projects/projects/find.ts';
import { type Code, getCallerSight } from '../../../code/repository/find_code.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { isPlainPath } from '../../../code/repository/files/paths.ts';
import { resolveRevision } from '../../../code/repository/refs/resolve.ts';
import { fetchRemoteFile } from './remote_file.ts';

const maxFileBytes = 1_048_576;
/** Paths of a commit that patterns are matched against. */
const maxPaths = 200_000;
/** Files that one pattern of `include: local` may include. */
const maxMatches = 150;

const defaultPath = '.gitlab-ci.yml';

/** Returns the path of a project's configuration. */
export const getConfigPath = ({ ci_config_path }: Pick<Project, 'ci_config_path'>): string =>
  ci_config_path === null || ci_config_path.trim() === '' ? defaultPath : ci_config_path.replace(/^\/+/, '');

/** Parses `path@group/project` or `path@group/project:ref`, a file of another project. null for the project's own file. */
const parseForeignPath = (path: string) => {
  const [, file, project, ref] = /^(.+?\.ya?ml)@([^:]+)(?::(.+))?$/.exec(path) ?? [];
  return file === undefined ? null : { project, file, ...(ref !== undefined && { ref }) };
};

/** Returns the `include` entry of a project's configuration. */
export const toConfigInclude = (project: Pick<Project, 'ci_config_path'>): object =>
  parseForeignPath(getConfigPath(project)) ?? { local: getConfigPath(project) };

/** A commit of a project. `include: local` in its files refers to it. */
export type Origin = { code: Code; commit: Oid };

type ReadFile = { text: string } | { problem: 'missing' | 'unreadable' };

/** Reads a text file of a commit. */
const readText = async ({ code, commit }: Origin, path: string): Promise<ReadFile> => {
  if (path === '' || !isPlainPath(path)) return { problem: 'missing' };
  const { result, body } = await code.repository.read('blob.at', { commit, path, max: maxFileBytes });
  if (result === null) return { problem: 'missing' };
  return result.whole && isUtf8(body) ? { text: body.toString('utf8') } : { problem: 'unreadable' };
};

/**
 * Reads a project's configuration at a commit. A configuration in another project becomes an include, which is read
 * with the permissions of the pipeline's creator.
 */
export const readProjectConfig = async (origin: Origin): Promise<ReadFile> => {
  const { project } = origin.code;
  const path = getConfigPath(project);
  if (parseForeignPath(path) === null) return await readText(origin, path);
  return { text: JSON.stringify({ include: [toConfigInclude(project)] }) };
};

/** Lists all file paths of a commit. */
export const listPaths = async ({ code, commit }: Origin): Promise<string[]> => {
  const everyPath = { path: '', recursive: true, offset: 0, limit: maxPaths };
  const tree = await code.repository.ask('tree.list', { commit, ...everyPath });
  return tree?.entries.filter(({ type }) => type === 'blob').map(({ path }) => path) ?? [];
};

const matchPaths = async (origin: Origin, pattern: string): Promise<string[]> => {
  const { compilePathPattern } = await import('../../ci_file/syntax/fnmatch.ts');
  const matches = compilePathPattern(pattern.replace(/\*\*$/, '**/*'));
  return (await listPaths(origin)).filter(matches).slice(0, maxMatches + 1);
};

type Fetched = Awaited<ReturnType<Fetch>>;

const fetchFile = async (origin: Origin, path: string): Promise<Fetched> => {
  const read = await readText(origin, path);
  return 'problem' in read ? read : { files: [{ name: path, text: read.text, origin }] };
};

const fetchLocalFiles = async (origin: Origin | null, path: string): Promise<Fetched> => {
  if (origin === null) return { problem: 'homeless' };
  if (!path.includes('*')) return await fetchFile(origin, path);
  const files: IncludedFile[] = [];
  for (const name of await matchPaths(origin, path)) {
    const read = await readText(origin, name);
    if ('text' in read) files.push({ name, text: read.text, origin });
  }
  return files.length === 0 ? { problem: 'missing' } : { files };
};

/** Finds a project's code by full path; null if it is missing or the user cannot read it. */
type FindCode = (path: string) => Promise<Code | null>;

const fetchProjectFile = async (
  find: FindCode,
  include: IncludeTarget & { type: 'file' },
): Promise<Fetched> => {
  const code = await find(include.project);
  if (code === null) return { problem: 'project' };
  const revision = await resolveRevision(code, include.ref ?? 'HEAD');
  if (revision === null) return { problem: 'reference' };
  return await fetchFile({ code, commit: revision.commit }, include.path);
};

type TextResult = { text: string } | { problem: FetchProblem };

/** Reads a text file from the artifacts of a job in the parent pipeline. */
export type ReadArtifactText = (job: string, path: string) => Promise<TextResult>;

const fetchArtifactFile = async (
  read: ReadArtifactText,
  { job, path }: IncludeTarget & { type: 'artifact' },
): Promise<Fetched> => {
  const readArtifact = await read(job, path);
  // Without an origin, it cannot include local files.
  return 'problem' in readArtifact
    ? readArtifact
    : { files: [{ name: path, text: readArtifact.text, origin: null }] };
};

/** Reads a built-in template. It has no origin and cannot include local files. */
const fetchTemplate = async (name: string): Promise<Fetched> => {
  const { getTemplateText } = await import('../../ci_file/include/templates.ts');
  const text = getTemplateText(name);
  return text === null ? { problem: 'missing' } : { files: [{ name, text, origin: null }] };
};

export type Sources = {
  /** Origins from which files may be included over HTTP. */
  origins: readonly string[];
  readArtifact?: ReadArtifactText | undefined;
};

/** Returns the function that fetches included files from readable repositories and the given sources. */
export const createFetch =
  (find: FindCode, { origins, readArtifact }: Sources): Fetch =>
  async (include, origin) => {
    if (include.type === 'artifact' && readArtifact !== undefined)
      return await fetchArtifactFile(readArtifact, include);
    if (include.type === 'local') return await fetchLocalFiles(origin as Origin | null, include.path);
    if (include.type === 'file') return await fetchProjectFile(find, include);
    if (include.type === 'remote') return await fetchRemoteFile(origins, include);
    return include.type === 'template' ? await fetchTemplate(include.name) : { problem: 'refused' };
  };

/** Returns a function that finds the code of projects that the viewer can read. */
export const readableCodeFinder =
  (platform: Platform, viewer: Viewer): FindCode =>
  async (path) => {
    const project = await findProject({ db: platform.store.db, viewer }, path).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    });
    if (project === null || !may(viewer, 'read_code', project)) return null;
    const sight = getCallerSight(platform.store.db, viewer, project);
    return { project, repository: getRepository(platform, project), sight };
  };
