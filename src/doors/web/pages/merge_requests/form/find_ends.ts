/** Finds the projects and branches of a new merge request. */
import { listOwnForks } from '../../../../../code/repository/forks/own_forks.ts';
import { may } from '../../../../../core/access/may.ts';
import { forbidden, notFound, nullIfMissing } from '../../../../../platform/errors.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { listTargets } from '../../../../../review/merge_requests/list_targets.ts';
import type { Visit } from '../../../page.ts';

/** The branches that the address or the form names. */
export type SentEnds = {
  source_project_id?: number | undefined;
  target_project_id?: number | undefined;
  source_branch?: string | undefined;
  target_branch?: string | undefined;
};

export type Ends = {
  /** The project whose page it is. */
  project: Project;
  source: Project;
  target: Project;
  /** Projects that may be the source: the project, and the user's forks of it. */
  sources: Project[];
  /** Projects that may be the target: the project, and the project that the source was forked from. */
  targets: Project[];
  /** Empty: not chosen yet. */
  source_branch: string;
  target_branch: string;
};

/** The user may open merge requests in the project, but has no branch for one: they may not push, and have no fork. */
export type NoSource = { project: Project; source: null };

const findRelated = async (
  { call }: Visit,
  project: Project,
  id: number | undefined,
): Promise<Project | null> => {
  if (id === undefined || id === project.id) return null;
  return await nullIfMissing(findProject(call, id));
};

/** Finds the source: the named project, otherwise the project itself, otherwise the user's first fork. */
const findSources = async (
  visit: Visit,
  project: Project,
  id: number | undefined,
): Promise<Pick<Ends, 'source' | 'sources'> | null> => {
  const { call } = visit;
  const isSource = (one: Project): boolean => may(call.viewer, 'create_merge_request_from', one);
  const [named, forks] = await Promise.all([findRelated(visit, project, id), listOwnForks(call, project)]);
  const found = [...(isSource(project) ? [project] : []), ...forks];
  const source = named ?? found[0];
  if (source === undefined) return null;
  if (!isSource(source)) throw forbidden();
  return { source, sources: found.some((one) => one.id === source.id) ? found : [source, ...found] };
};

/** Lists the possible targets of a source, the usual one first. */
const findTargets = async ({ call }: Visit, project: Project, source: Project): Promise<Project[]> => {
  const found = await listTargets(call, source);
  if (found.some(({ id }) => id === project.id)) {
    return source.id === project.id
      ? found
      : found.toSorted((a, b) => Number(b.id === project.id) - Number(a.id === project.id));
  }
  return may(call.viewer, 'create_merge_request_in', project) ? [project, ...found] : found;
};

/**
 * Finds the projects and branches of a new merge request.
 * @throws Failure 404 for a hidden project, 403 for one in which the user may not create it
 */
export const findEnds = async (visit: Visit, path: string, sent: SentEnds): Promise<Ends | NoSource> => {
  const { call } = visit;
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_merge_request', project) && !may(call.viewer, 'read_code', project)) {
    throw notFound();
  }
  const from = await findSources(visit, project, sent.source_project_id);
  if (from === null) {
    if (!may(call.viewer, 'create_merge_request_in', project)) throw forbidden();
    return { project, source: null };
  }
  const targets = await findTargets(visit, project, from.source);
  const target = targets.find(({ id }) => id === sent.target_project_id) ?? targets[0];
  if (target === undefined) throw forbidden();
  const { source_branch = '', target_branch = '' } = sent;
  return {
    project,
    ...from,
    target,
    targets,
    source_branch,
    target_branch: target_branch === '' ? (target.default_branch ?? '') : target_branch,
  };
};
