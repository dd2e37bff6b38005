/** The form that chooses the branches of a new merge request, and the parameters that name them. */
import { type Code, openCode } from '../../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { Visit } from '../../../page.ts';
import { hidden, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { requestsPath } from '../paths.ts';
import type { Ends } from './find_ends.ts';

/** Names that a field suggests. */
const maxSuggestions = 200;

/** Returns the parameters of an address with these branches, named as other forges do. */
export const endsQuery = (ends: Ends): Record<string, string> => ({
  ...(ends.source.id !== ends.project.id && { 'merge_request[source_project_id]': String(ends.source.id) }),
  'merge_request[source_branch]': ends.source_branch,
  ...(ends.targets.length > 1 && { 'merge_request[target_project_id]': String(ends.target.id) }),
  'merge_request[target_branch]': ends.target_branch,
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

type Side = 'source' | 'target';
const sideNames = { source: 'Source', target: 'Target' } as const;

/** Renders the choice of a project; null if there is only one. */
const projectField = (side: Side, chosen: Project, projects: readonly Project[]): Html | null =>
  projects.length > 1
    ? select({
        name: `merge_request[${side}_project_id]`,
        label: `${sideNames[side]} project`,
        value: String(chosen.id),
        options: projects.map(({ id, full_path }) => [String(id), full_path] as const),
      })
    : null;

/** Loads the branches of newly chosen projects, because the page still lists the branches of the previous choice. */
const reloadButton = html`<button name="change_branches" value="1" formnovalidate>Show branches of these projects</button>`;

type BranchFields = { source: Html; target: Html };

/** Renders the fields of both branches. */
export const branchFields = async (
  { call }: Visit,
  ends: Ends,
  problems: EndProblems,
): Promise<BranchFields> => {
  const { source, target, source_branch, target_branch } = ends;
  const [from, into] = await Promise.all([suggest(openCode(call, source)), suggest(openCode(call, target))]);
  return {
    source: branchField(
      {
        name: 'source_branch',
        label: 'Source branch',
        value: source_branch,
        problem: problems.source_branch,
      },
      from.filter((name) => source.id !== target.id || name !== source.default_branch),
    ),
    target: branchField(
      {
        name: 'target_branch',
        label: 'Target branch',
        value: target_branch,
        problem: problems.target_branch,
      },
      into,
    ),
  };
};

/**
 * Renders the form that chooses the branches.
 * @param kept further parameters that the next page receives
 */
export const endsForm = async (
  visit: Visit,
  ends: Ends,
  { problems, kept }: { problems: EndProblems; kept: Readonly<Record<string, string>> },
): Promise<Html> => {
  const { project, source, sources, target, targets } = ends;
  const branches = await branchFields(visit, ends, problems);
  const fixed = sources.length === 1 && source.id !== project.id;
  return html`<form method="get" action="${requestsPath(project)}/new" class="filter">${Object.entries(kept).map(([name, value]) => hidden(name, value))}${
    fixed && hidden('merge_request[source_project_id]', source.id)
  }${projectField('source', source, sources)}${branches.source}${projectField('target', target, targets)}${branches.target}<div class="buttons"><button class="primary">Compare branches</button>${sources.length + targets.length > 2 && reloadButton}</div></form>`;
};
