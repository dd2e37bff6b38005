/** Writes the lines of a file with their commits. Uses plain strings, because a file has thousands of lines. */
import { toCommitTitle } from '../../../../code/repository/commits/json.ts';
import type { Blame } from '../../../../code/repository/files/blame.ts';
import { codePath } from '../../parts/code/code_path.ts';
import type { CodeLocation } from '../../parts/code/code_location.ts';
import { type CommitPeople, authorAvatar, authorName } from '../../parts/code/commit_people.ts';
import { commitLink, signedTime } from '../../parts/code/commit_line.ts';
import { type Html, html, trusted } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';

type Range = Blame['ranges'][number];

/** The cell of a commit, across its lines, with a link to the blame before it. */
const commitCell = (
  { project, path }: CodeLocation,
  { commit, lines: [first, last] }: Range,
  people: CommitPeople,
): Html => {
  const [parent] = commit.parents;
  const prior =
    parent !== undefined &&
    html`<a class="prior" href="${codePath(project, 'blame', parent, path)}" aria-label="Blame before this commit" title="Blame before this commit">${icon('history')}</a>`;
  // A commit of one line has no place for a second one.
  const isTall = last > first;
  const who = isTall
    ? html`<small class="muted">${authorName(people, commit.author)}</small>`
    : html`<span class="visually-hidden">${commit.author.name}</span>`;
  return html`<td class="commit" rowspan="${last - first + 1}"><span class="who">${authorAvatar(people, commit.author)}
${commitLink(project, { id: commit.id, text: toCommitTitle(commit.message), classes: 'title' })}
<small class="muted">${signedTime(commit.author)}</small>${prior}</span>${who}</td>`;
};

const writeLine = (number: number, line: Html | undefined): string =>
  `<td class="n"><a href="#L${number}">${number}</a></td><td>${line?.text ?? ''}\n</td></tr>`;

/** @param lines lines of the page, and the number of the first line */
export const blameTable = (
  location: CodeLocation,
  ranges: readonly Range[],
  [lines, start]: readonly [readonly Html[], number],
  { size, total, people }: { size: number; total: number; people: CommitPeople },
): Html => {
  const rows = ranges.map((range) => {
    const [first, last] = range.lines;
    const parts = [
      `<tr class="first" id="L${first}">${commitCell(location, range, people).text}${writeLine(first, lines[first - start])}`,
    ];
    for (let line = first + 1; line <= last; line += 1) {
      parts.push(`<tr id="L${line}">${writeLine(line, lines[line - start])}`);
    }
    return parts.join('');
  });
  return trusted(
    `<div class="code-box" tabindex="0" role="region" aria-label="Lines and their commits"><table class="blob blame" data-lines="${size}" data-total="${total}"><thead class="visually-hidden"><tr><th scope="col">Commit</th><th scope="col">Line</th><th scope="col">Content</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
  );
};
