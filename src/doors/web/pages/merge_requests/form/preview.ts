/** Loads and renders the commits and changed files of a new merge request. */
import { type Code, openCode } from '../../../../../code/repository/find_code.ts';
import {
  type Compared,
  compareAcrossProjects,
  compareWithinProject,
} from '../../../../../code/repository/commits/compare.ts';
import { findRef, branchPrefix } from '../../../../../code/repository/refs/resolve.ts';
import { loadShownPipelines } from '../../../parts/pipelines/load_shown_pipelines.ts';
import type { Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../../page.ts';
import { commitList } from '../../../parts/code/commit_list.ts';
import { listNamed, loadCommitPeople } from '../../../parts/code/commit_people.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import type { DiffChoice } from '../../../parts/diff/diff_choice.ts';
import { diffPart, toDiffRequest } from '../../../parts/diff/diff_part.ts';
import { type Html, html } from '../../../parts/html.ts';
import { maxComparedCommits } from '../../../../../code/repository/limits.ts';
import { comparePath } from '../../compare/comparison_address.ts';
import { requestsPath } from '../paths.ts';
import { type EndProblems, endsQuery } from './branch_choice.ts';
import type { Ends } from './find_ends.ts';

/** Commits that are listed. */
const maxCommits = 100;

export type Preview = { compared: Compared; code: Code; head: Oid };

/** Compares the branches. @returns their problems */
export const loadPreview = async (
  { call }: Visit,
  { source, target, source_branch, target_branch }: Ends,
  choice: DiffChoice,
): Promise<Preview | EndProblems> => {
  const [code, into] = [openCode(call, source), openCode(call, target)];
  const [from, to] = await Promise.all([
    findRef(into.repository, branchPrefix + target_branch),
    findRef(code.repository, branchPrefix + source_branch),
  ]);
  const [base, head] = [from?.commit ?? null, to?.commit ?? null];
  if (base === null || head === null) {
    return {
      ...(head === null && { source_branch: `No branch is named “${source_branch}”.` }),
      ...(base === null && { target_branch: `No branch is named “${target_branch}”.` }),
    };
  }
  const shown = toDiffRequest(choice);
  const compared =
    source.id === target.id
      ? await compareWithinProject(code, [base, head], false, shown)
      : await compareAcrossProjects({ code, other: into }, [base, head], false, shown);
  return { compared, code, head };
};

/** Says how many commits the list lacks, with a link to the comparison that lists them all, page by page. */
const moreCommits = (
  { source, target, source_branch, target_branch }: Ends,
  total: number,
  more: number,
): Html => {
  const path = comparePath(source, {
    from: target_branch,
    to: source_branch,
    isStraight: false,
    ...(source.id !== target.id && { fromProjectId: target.id }),
  });
  const text = more === 1 ? 'One older commit is not shown.' : `${more} older commits are not shown.`;
  return html`<p class="muted">${text} <a href="${path}">See all ${spellTotal(total)}</a></p>`;
};

/** Spells the number of commits. No more than a limit are read. */
const spellTotal = (total: number): string =>
  total < maxComparedCommits ? spellCount(total, 'commit') : `${total} commits or more`;

/**
 * Renders the commits and changed files.
 * @param kept further parameters that links to other views of the diff keep
 */
export const previewPart = async (
  visit: Visit,
  ends: Ends,
  { compared, code, head }: Preview,
  { choice, kept }: { choice: DiffChoice; kept: Readonly<Record<string, string>> },
): Promise<Html> => {
  const { commits, base, diffs, overflow, files = diffs.length } = compared;
  const shown = commits.slice(0, maxCommits);
  const shas = shown.map(({ id }) => id);
  const [pipelines, people] = await Promise.all([
    loadShownPipelines(visit, ends.source, shas),
    loadCommitPeople(visit, ends.source, listNamed(shown)),
  ]);
  const options = {
    visit,
    code,
    from: base,
    to: head,
    address: `${requestsPath(ends.project)}/new`,
    query: { ...endsQuery(ends), ...kept },
    choice,
  };
  const more = commits.length - shown.length;
  return html`<section class="stack" aria-labelledby="preview_commits"><h2 id="preview_commits">${spellTotal(commits.length)}</h2>
${commitList(ends.source, shown, { pipelines, people })}${more > 0 && moreCommits(ends, commits.length, more)}</section>
${await diffPart({ diffs, files, overflow }, options)}`;
};
