/** The form of a comparison, and its result: commits and diffs. */
import { may } from '../../../../core/access/may.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { type Compared, compareWithinProject } from '../../../../code/repository/commits/compare.ts';
import {
  branchPrefix,
  resolveRevision,
  tagPrefix,
  type Resolved,
} from '../../../../code/repository/refs/resolve.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { withAnonymousSlot } from '../../parts/code/anonymous_page_limit.ts';
import { commitList } from '../../parts/code/commit_list.ts';
import { loadCommitPeople } from '../../parts/code/commit_people.ts';
import { loadSignatures } from '../../parts/code/signature_badge.ts';
import type { DiffChoice } from '../../parts/diff/diff_choice.ts';
import { diffPart, toDiffRequest } from '../../parts/diff/diff_part.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { select } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import type { View, Visit } from '../../page.ts';
import { type Comparison, comparePath } from './comparison_address.ts';
import { canProposeBranches, newRequestPath } from '../merge_requests/new_request_links.ts';
import { spellCount } from '../../parts/spell_count.ts';

/** Names that the fields suggest. */
const maxSuggestions = 200;
/** Commits that are listed. */
const maxCommits = 100;

type Ends = { from: string | null; to: string; isStraight?: boolean };
/** The problem of each end. */
type EndProblems = { from?: string | undefined; to?: string | undefined };

const suggestions = async ({ repository }: Code): Promise<Html> => {
  const page = { offset: 0, limit: maxSuggestions };
  const ask = async (prefix: string): Promise<string[]> => {
    const { names } = await repository.ask('refs.names', { prefix, sort: 'updated', ...page });
    return names.map((name) => name.slice(prefix.length));
  };
  const [branches, tags] = await Promise.all([ask(branchPrefix), ask(tagPrefix)]);
  return html`<datalist id="refs">${[...branches, ...tags].map((name) => html`<option value="${name}">`)}</datalist>`;
};

const refField = (name: 'from' | 'to', label: string, value: string, problem: string | undefined): Html =>
  html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}" list="refs" autocomplete="off" required${
    problem !== undefined && html` aria-invalid="true" aria-describedby="${name}_error"`
  }>${problem !== undefined && html`<p class="error" id="${name}_error">${problem}</p>`}</div>
`;

/** Links to the same comparison the other way round. */
const swapLink = ({ project }: Code, { from, to, isStraight = false }: Ends): Html | null =>
  from === null || from === '' || to === ''
    ? null
    : html`<a class="button" href="${comparePath(project, { from: to, to: from, isStraight })}">Swap</a>`;

const compareForm = async (code: Code, ends: Ends, problems: EndProblems): Promise<Html> => {
  const { from, to, isStraight = false } = ends;
  return html`<form method="get" action="${projectPagePath(code.project, 'compare')}" class="filter">
${refField('from', 'Base', from ?? '', problems.from)}${refField('to', 'Compare', to, problems.to)}
${select({
  name: 'straight',
  label: 'Show',
  value: isStraight ? '1' : '0',
  options: [
    ['0', 'Since common ancestor'],
    ['1', 'All differences'],
  ],
})}<div class="buttons"><button class="primary">Compare</button>${swapLink(code, ends)}</div>${await suggestions(code)}</form>
`;
};

export const formView = async (
  visit: Visit,
  code: Code,
  ends: Ends,
  problems: EndProblems = {},
): Promise<View> => {
  const hasProblems = problems.from !== undefined || problems.to !== undefined;
  return projectView(
    visit,
    {
      project: code.project,
      title: 'Compare',
      noun: 'compare',
      ...(hasProblems && { view: { status: 422 } }),
    },
    html`<p class="muted">Choose two branches, tags or commits. The result shows what “Compare” has and “Base” lacks.</p>
${await compareForm(code, ends, problems)}`,
  );
};

/** Returns the branch that was named; null: it was a tag or a commit. */
const branchName = ({ ref }: Resolved): string | null =>
  ref?.startsWith(branchPrefix) === true ? ref.slice(branchPrefix.length) : null;

/** Links to a new merge request between two branches of the project, for those who may open one. */
const requestLink = async (
  visit: Visit,
  project: Project,
  [from, to]: [Resolved, Resolved],
): Promise<Html | null> => {
  const [target, source] = [branchName(from), branchName(to)];
  const isAllowed =
    may(visit.call.viewer, 'create_merge_request_in', project) && (await canProposeBranches(visit, project));
  if (!isAllowed || target === null || source === null || target === source) return null;
  const path = newRequestPath(project, {
    source_branch: source,
    target_branch: target,
    // The usual target of a fork is the project above it, which need not have this branch.
    ...(project.forked_from_project_id !== null && { target_project_id: project.id }),
  });
  return html`<a class="button good" href="${path}">${icon('merge-request')} Create merge request</a>`;
};

const commitsPart = async (visit: Visit, code: Code, { commits }: Compared): Promise<Html> => {
  const { project } = code;
  const shown = commits.slice(0, maxCommits);
  const shas = shown.map(({ id }) => id);
  const [pipelines, people, signatures] = await Promise.all([
    loadShownPipelines(visit, project, shas),
    loadCommitPeople(
      visit,
      project,
      shown.map(({ author }) => author),
    ),
    loadSignatures(visit, code, shown),
  ]);
  const more = commits.length - shown.length;
  return html`<h2>${spellCount(commits.length, 'commit')}</h2>
${commitList(project, shown, { pipelines, people, signatures })}${more > 0 && html`<p class="muted">${more} older commits are not shown.</p>`}`;
};

const resultPart = async (
  visit: Visit,
  code: Code,
  { ends, comparison, choice }: { ends: [Resolved, Resolved]; comparison: Comparison; choice: DiffChoice },
): Promise<Html> => {
  const { project } = code;
  const [from, to] = ends;
  const compared = await withAnonymousSlot(
    visit,
    async () =>
      await compareWithinProject(
        code,
        [from.commit, to.commit],
        comparison.isStraight,
        toDiffRequest(choice),
      ),
  );
  const { commits, base, diffs, overflow, files = diffs.length } = compared;
  if (commits.length === 0 && files === 0 && !overflow) {
    const text = 'Everything that “Compare” has is in “Base”, too.';
    return html`<section class="card">${emptyState({ icon: 'commit', title: 'Nothing to compare', text })}</section>`;
  }
  const address = comparePath(project, comparison);
  return html`<div class="row">${await requestLink(visit, project, ends)}</div>
${choice.file === undefined && (await commitsPart(visit, code, compared))}
${await diffPart({ diffs, files, overflow }, { visit, code, from: base, to: to.commit, address, choice })}`;
};

const problemFor = (name: string, resolved: Resolved | null): string | undefined =>
  resolved === null ? `There is no branch, tag or commit “${name}”.` : undefined;

export const comparisonView = async (
  visit: Visit,
  code: Code,
  comparison: Comparison,
  choice: DiffChoice,
): Promise<View> => {
  const { from: base, to: head } = comparison;
  const [from, to] = await Promise.all([resolveRevision(code, base), resolveRevision(code, head)]);
  if (from === null || to === null) {
    const problems = { from: problemFor(base, from), to: problemFor(head, to) };
    const ends = { from: base, to: head, isStraight: comparison.isStraight };
    return await formView(visit, code, ends, problems);
  }
  const [form, result] = await Promise.all([
    compareForm(code, { from: base, to: head, isStraight: comparison.isStraight }, {}),
    resultPart(visit, code, { ends: [from, to], comparison, choice }),
  ]);
  return projectView(
    visit,
    {
      project: code.project,
      title: `Compare ${base} with ${head}`,
      noun: 'compare',
      hasHeading: true,
      view: { isWide: true },
    },
    html`<h1>Compare</h1>
${form}${result}`,
  );
};
