/** The form of a comparison: both ends, the project of the base, and what of the differences is shown. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { getForkNetwork } from '../../../../code/repository/forks/fork_relation.ts';
import { listReadableRelatives } from '../../../../code/repository/forks/readable_relatives.ts';
import { findCachedCode } from '../../../../code/repository/read_cache.ts';
import { branchPrefix, tagPrefix } from '../../../../code/repository/refs/resolve.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { select } from '../../parts/form.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, withRefusal } from '../../page.ts';
import { comparePath } from './comparison_address.ts';

/** Names that the fields suggest. */
const maxSuggestions = 200;

/** Both sides of a comparison. */
export type Sides = {
  /** The project of the page, and of what is compared. */
  code: Code;
  /** The project of the base: the same, or another one of the fork network. */
  other: Code;
  /** Other projects that may be the base. */
  relatives: Project[];
};

export const isAcross = ({ code, other }: Sides): boolean => other.project.id !== code.project.id;

/** Finds the project of the base. @throws Failure 404 for a hidden project, and for one of no relation */
export const findSides = async ({ call }: Visit, code: Code, id: number | undefined): Promise<Sides> => {
  const { project } = code;
  const relatives = await listReadableRelatives(call, project);
  if (id === undefined || id === project.id) return { code, other: code, relatives };
  const base = await findCachedCode(call, id);
  if (getForkNetwork(base.project) !== getForkNetwork(project)) throw notFound();
  const isListed = relatives.some((one) => one.id === base.project.id);
  return { code, other: base, relatives: isListed ? relatives : [...relatives, base.project] };
};

type Ends = { from: string | null; to: string; isStraight?: boolean };
/** The problem of each end. */
export type EndProblems = { from?: string | undefined; to?: string | undefined; project?: string };

const suggestions = async ({ repository }: Code, id: string): Promise<Html> => {
  const page = { offset: 0, limit: maxSuggestions };
  const ask = async (prefix: string): Promise<string[]> => {
    const { names } = await repository.ask('refs.names', { prefix, sort: 'updated', ...page });
    return names.map((name) => name.slice(prefix.length));
  };
  const [branches, tags] = await Promise.all([ask(branchPrefix), ask(tagPrefix)]);
  return html`<datalist id="${id}">${[...branches, ...tags].map((name) => html`<option value="${name}">`)}</datalist>`;
};

type RefField = { name: 'from' | 'to'; label: string; value: string; list: string };

const refField = ({ name, label, value, list }: RefField, problem: string | undefined): Html =>
  html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}" list="${list}" autocomplete="off" required${
    problem !== undefined && html` aria-invalid="true" aria-describedby="${name}_error"`
  }>${problem !== undefined && html`<p class="error" id="${name}_error">${problem}</p>`}</div>
`;

/** Links to the same comparison the other way round: on the page of the other project, if there are two. */
const swapLink = (sides: Sides, { from, to, isStraight = false }: Ends): Html | null => {
  const { code, other } = sides;
  if (from === null || from === '' || to === '') return null;
  const swapped = {
    from: to,
    to: from,
    isStraight,
    ...(isAcross(sides) && { fromProjectId: code.project.id }),
  };
  return html`<a class="button" href="${comparePath(other.project, swapped)}">Swap</a>`;
};

/** Renders the choice of the base's project; null if there is only one. */
const projectField = ({ code, other, relatives }: Sides, problem: string | undefined): Html | null =>
  relatives.length === 0
    ? null
    : select({
        name: 'from_project_id',
        label: 'Base project',
        value: String(other.project.id),
        options: [code.project, ...relatives].map(({ id, full_path }) => [String(id), full_path] as const),
        ...(problem !== undefined && { problems: { text: null, fields: { from_project_id: [problem] } } }),
      });

export const compareForm = async (sides: Sides, ends: Ends, problems: EndProblems): Promise<Html> => {
  const { from, to, isStraight = false } = ends;
  const { code, other } = sides;
  const list = isAcross(sides) ? 'base_refs' : 'refs';
  return html`<form method="get" action="${projectPagePath(code.project, 'compare')}" class="filter">
${projectField(sides, problems.project)}${refField({ name: 'from', label: 'Base', value: from ?? '', list }, problems.from)}${refField(
    { name: 'to', label: 'Compare', value: to, list: 'refs' },
    problems.to,
  )}
${select({
  name: 'straight',
  label: 'Show',
  value: isStraight ? '1' : '0',
  options: [
    ['0', 'Since common ancestor'],
    ['1', 'All differences'],
  ],
})}<div class="buttons"><button class="primary">Compare</button>${swapLink(sides, ends)}</div>${await suggestions(code, 'refs')}${isAcross(sides) && (await suggestions(other, list))}</form>
`;
};

export const formView = async (
  visit: Visit,
  sides: Sides,
  ends: Ends,
  problems: EndProblems = {},
): Promise<View> => {
  const hasProblems = Object.values(problems).some((one) => one !== undefined);
  const view = projectView(
    visit,
    { project: sides.code.project, title: 'Compare', noun: 'compare' },
    html`<p class="muted">Choose two branches, tags or commits. The result shows what is in “Compare” but not in “Base”.</p>
${await compareForm(sides, ends, problems)}`,
  );
  return withRefusal(view, hasProblems);
};
