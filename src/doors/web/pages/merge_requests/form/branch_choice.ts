/** The branches of a new merge request: which ones the address names, and the form that chooses them. */
import { type Code, openCode } from '../../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import { canReadCode } from '../../../../../core/access/visible.ts';
import { may } from '../../../../../core/access/may.ts';
import { Failure, forbidden, notFound } from '../../../../../platform/errors.ts';
import { type Project, findProject, loadProject } from '../../../../../projects/projects/find.ts';
import type { Visit } from '../../../page.ts';
import { hidden, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { requestsPath } from '../paths.ts';

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
  /** Projects that may be the target: the project, and the one that it was forked from. */
  targets: Project[];
  /** Empty: not chosen yet. */
  source_branch: string;
  target_branch: string;
};

/** Names that a field suggests. */
const maxSuggestions = 200;

const isTarget = ({ call }: Visit, project: Project): boolean =>
  may(call.viewer, 'create_merge_request_in', project);

const findRelated = async (
  { call }: Visit,
  project: Project,
  id: number | undefined,
): Promise<Project | null> => {
  if (id === undefined || id === project.id) return null;
  try {
    return await findProject(call, id);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
};

/** Lists the possible targets of a source, the usual one first: that of a fork is the project above. */
const findTargets = async (visit: Visit, source: Project): Promise<Project[]> => {
  const { call } = visit;
  const { forked_from_project_id: id } = source;
  const above = id === null ? null : await loadProject(call.db, id);
  const isOpen = above !== null && canReadCode(call.viewer, above) && isTarget(visit, above);
  return [...(isOpen ? [above] : []), ...(isTarget(visit, source) ? [source] : [])];
};

/**
 * Finds the projects and branches of a new merge request.
 * @throws Failure 404 for a hidden project, 403 for one in which the user may not create it
 */
export const findEnds = async (visit: Visit, path: string, sent: SentEnds): Promise<Ends> => {
  const { call } = visit;
  const project = await findProject(call, path);
  if (!may(call.viewer, 'read_merge_request', project) && !may(call.viewer, 'read_code', project)) {
    throw notFound();
  }
  const source = (await findRelated(visit, project, sent.source_project_id)) ?? project;
  if (!may(call.viewer, 'create_merge_request_from', source)) throw forbidden();
  const found = await findTargets(visit, source);
  const isMissing = isTarget(visit, project) && !found.some(({ id }) => id === project.id);
  const targets = isMissing ? [project, ...found] : found;
  const usual = source.id === project.id ? targets[0] : targets.find(({ id }) => id === project.id);
  const target = targets.find(({ id }) => id === sent.target_project_id) ?? usual ?? targets[0];
  if (target === undefined) throw forbidden();
  return {
    project,
    source,
    target,
    targets,
    source_branch: sent.source_branch ?? '',
    target_branch:
      (sent.target_branch ?? '') === '' ? (target.default_branch ?? '') : (sent.target_branch ?? ''),
  };
};

/** Returns the parameters of an address with these branches, named as other forges do. */
export const endsQuery = ({
  project,
  source,
  target,
  targets,
  ...branches
}: Ends): Record<string, string> => ({
  ...(source.id !== project.id && { 'merge_request[source_project_id]': String(source.id) }),
  'merge_request[source_branch]': branches.source_branch,
  ...(targets.length > 1 && { 'merge_request[target_project_id]': String(target.id) }),
  'merge_request[target_branch]': branches.target_branch,
});

const suggest = async ({ repository }: Code): Promise<string[]> => {
  const bounds = { prefix: branchPrefix, sort: 'updated', offset: 0, limit: maxSuggestions } as const;
  const { names } = await repository.ask('refs.names', bounds);
  return names.map((name) => name.slice(branchPrefix.length));
};

type Field = {
  name: 'source_branch' | 'target_branch';
  label: string;
  value: string;
  problem: string | undefined;
};

const branchField = ({ name, label, value, problem }: Field, names: readonly string[]): Html =>
  html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="merge_request[${name}]" value="${value}" list="${name}_list" autocomplete="off" required${
    problem !== undefined && html` aria-invalid="true" aria-describedby="${name}_error"`
  }><datalist id="${name}_list">${names.map((one) => html`<option value="${one}"></option>`)}</datalist>${
    problem !== undefined && html`<p class="error" id="${name}_error">${problem}</p>`
  }</div>`;

export type EndProblems = { source_branch?: string; target_branch?: string };

/** Renders the form that chooses the branches. */
export const endsForm = async ({ call }: Visit, ends: Ends, problems: EndProblems = {}): Promise<Html> => {
  const { project, source, target, targets, source_branch, target_branch } = ends;
  const [sources, into] = await Promise.all([
    suggest(openCode(call, source)),
    suggest(openCode(call, target)),
  ]);
  const from = { name: 'source_branch' as const, label: 'Source branch' };
  const to = { name: 'target_branch' as const, label: 'Target branch' };
  return html`<form method="get" action="${requestsPath(project)}/new" class="filter">${source.id !== project.id && hidden('merge_request[source_project_id]', source.id)}${branchField(
    { ...from, value: source_branch, problem: problems.source_branch },
    sources.filter((name) => name !== source.default_branch),
  )}${
    targets.length > 1 &&
    select({
      name: 'merge_request[target_project_id]',
      label: 'Target project',
      value: String(target.id),
      options: targets.map(({ id, full_path }) => [String(id), full_path] as const),
    })
  }${branchField({ ...to, value: target_branch, problem: problems.target_branch }, into)}<div class="buttons"><button class="primary">Compare branches</button></div></form>`;
};
