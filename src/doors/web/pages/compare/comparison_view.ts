/** The result of a comparison: commits and diffs. */
import { may } from '../../../../core/access/may.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import {
  type Compared,
  compareAcrossProjects,
  compareWithinProject,
} from '../../../../code/repository/commits/compare.ts';
import { maxComparedCommits } from '../../../../code/repository/limits.ts';
import { branchPrefix, resolveRevision, type Resolved } from '../../../../code/repository/refs/resolve.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import { type PageRequest, pageRequest } from '../../../../platform/http/page.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import { listTargets } from '../../../../review/merge_requests/list_targets.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { commitList } from '../../parts/code/commit_list.ts';
import { listNamed, loadCommitPeople } from '../../parts/code/commit_people.ts';
import { loadSignatures } from '../../parts/code/signature_badge.ts';
import type { DiffChoice } from '../../parts/diff/diff_choice.ts';
import { diffPart, toDiffRequest } from '../../parts/diff/diff_part.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { icon } from '../../parts/icon.ts';
import type { View, Visit } from '../../page.ts';
import { type Comparison, barePath, fromProjectQuery } from './comparison_address.ts';
import { type Sides, compareForm, formView, isAcross } from './comparison_form.ts';
import { canProposeBranches, newRequestPath } from '../merge_requests/new_request_links.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

export const commitsPerPage = 100;

/** What of the comparison is shown. */
type Shown = { choice: DiffChoice; page: PageRequest };

/** Returns the branch that was named; null if it was a tag or a commit. */
const branchName = ({ ref }: Resolved): string | null =>
  ref?.startsWith(branchPrefix) === true ? ref.slice(branchPrefix.length) : null;

/** Links to a new merge request between the branches, for users who can open one. */
const requestLink = async (
  visit: Visit,
  sides: Sides,
  [from, to]: [Resolved, Resolved],
): Promise<Html | null> => {
  const [target, source] = [branchName(from), branchName(to)];
  const { project } = sides.code;
  const into = sides.other.project;
  const isAllowed =
    may(visit.call.viewer, 'create_merge_request_in', into) && (await canProposeBranches(visit, project));
  if (!isAllowed || target === null || source === null) return null;
  if (!isAcross(sides) && target === source) return null;
  if (isAcross(sides) && !(await listTargets(visit.call, project)).some(({ id }) => id === into.id))
    return null;
  const path = newRequestPath(project, {
    source_branch: source,
    target_branch: target,
    // The usual target of a fork is the project above it, which need not have this branch.
    ...((isAcross(sides) || project.forked_from_project_id !== null) && { target_project_id: into.id }),
  });
  return html`<a class="button good" href="${path}">${icon('merge-request')} Create merge request</a>`;
};

/** Renders the commits of a page; the last page, if there are fewer pages. */
const commitsPart = async (
  visit: Visit,
  code: Code,
  { commits }: Compared,
  { comparison, shown: { page, choice } }: { comparison: Comparison; shown: Shown },
): Promise<Html> => {
  const { project } = code;
  const last = Math.max(Math.ceil(commits.length / commitsPerPage), 1);
  const request = page.page > last ? pageRequest({ page: last, per_page: commitsPerPage }) : page;
  const shown = commits.slice(request.offset, request.offset + commitsPerPage);
  const shas = shown.map(({ id }) => id);
  const [pipelines, people, signatures] = await Promise.all([
    loadShownPipelines(visit, project, shas),
    loadCommitPeople(visit, project, listNamed(shown)),
    loadSignatures(visit, code, shown),
  ]);
  const nav = pagesNav({
    path: barePath(project, comparison),
    query: { ...fromProjectQuery(comparison), ...choice.asked },
    page: request,
    total: commits.length,
    isFixedSize: true,
  });
  const isCut = commits.length >= maxComparedCommits;
  return html`<h2>${spellCount(commits.length, 'commit')}</h2>
${isCut && html`<p class="muted">A comparison lists at most ${spellCount(maxComparedCommits, 'commit')}.</p>`}${commitList(project, shown, { pipelines, people, signatures })}${nav}`;
};

const resultPart = async (
  visit: Visit,
  sides: Sides,
  { ends, comparison, shown: asked }: { ends: [Resolved, Resolved]; comparison: Comparison; shown: Shown },
): Promise<Html> => {
  const { code } = sides;
  const { project } = code;
  const { choice } = asked;
  const [from, to] = ends;
  const pair: [Oid, Oid] = [from.commit, to.commit];
  const request = toDiffRequest(choice);
  const compared = await withAnonymousSlot(visit, async () =>
    isAcross(sides)
      ? await compareAcrossProjects(sides, pair, comparison.isStraight, request)
      : await compareWithinProject(code, pair, comparison.isStraight, request),
  );
  const { commits, base, diffs, overflow, files = diffs.length } = compared;
  if (commits.length === 0 && files === 0 && !overflow) {
    const text = '“Base” already contains everything in “Compare”.';
    return html`<section class="card">${emptyState({ icon: 'commit', title: 'Nothing to compare', text })}</section>`;
  }
  // Only the other project need have the commit that all differences start at.
  const isElsewhere = isAcross(sides) && comparison.isStraight;
  const shown = {
    visit,
    code,
    from: isElsewhere ? null : base,
    to: to.commit,
    address: barePath(project, comparison),
    query: fromProjectQuery(comparison),
    choice,
  };
  return html`<div class="row">${await requestLink(visit, sides, ends)}</div>
${choice.file === undefined && (await commitsPart(visit, code, compared, { comparison, shown: asked }))}
${await diffPart({ diffs, files, overflow }, shown)}`;
};

const problemFor = (name: string, resolved: Resolved | null): string | undefined =>
  resolved === null ? `No branch, tag or commit is named “${name}”.` : undefined;

const differentStorages = 'The projects are on different storages, so that they cannot be compared here.';

export const comparisonView = async (
  visit: Visit,
  sides: Sides,
  comparison: Comparison,
  asked: Shown,
): Promise<View> => {
  const { code, other } = sides;
  const { from: base, to: head, isStraight } = comparison;
  const shown = { from: base, to: head, isStraight };
  const [from, to] = await Promise.all([resolveRevision(other, base), resolveRevision(code, head)]);
  if (from === null || to === null) {
    return await formView(visit, sides, shown, { from: problemFor(base, from), to: problemFor(head, to) });
  }
  if (other.repository.storage !== code.repository.storage) {
    return await formView(visit, sides, shown, { project: differentStorages });
  }
  const [form, result] = await Promise.all([
    compareForm(sides, shown, {}),
    resultPart(visit, sides, { ends: [from, to], comparison, shown: asked }),
  ]);
  const name = isAcross(sides) ? `${other.project.full_path}:${base}` : base;
  return projectView(
    visit,
    {
      project: code.project,
      title: `Compare ${name} with ${head}`,
      noun: 'compare',
      hasHeading: true,
      view: { isWide: true },
    },
    html`<h1>Compare</h1>
${form}${result}`,
  );
};
