/** The part of the bar that goes through a merge request commit by commit. */
import { toShortId } from '../../../../../code/repository/commits/json.ts';
import { commitLink } from '../../../parts/code/commit_line.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { changesPath, choiceOf } from './changes_address.ts';
import type { Changes } from './load_changes.ts';

const pathTo = ({ loaded, query }: Changes, commit_id: string | undefined): string =>
  changesPath(loaded, { ...choiceOf(query), start_sha: undefined, commit_id });

/** Renders the chosen commit with links to its neighbours; null: all changes are shown. */
export const chosenCommitPart = (changes: Changes): Html | null => {
  const { commit, loaded } = changes;
  if (commit === null) return null;
  const { id, title, number, total, previous, next } = commit;
  const before =
    previous !== null &&
    html`<a class="button" href="${pathTo(changes, previous)}" rel="prev" data-key="x">${icon('chevron-left')} Previous commit</a>`;
  const after =
    next !== null &&
    html`<a class="button" href="${pathTo(changes, next)}" rel="next" data-key="c">Next commit ${icon('chevron-right')}</a>`;
  const name = html`<code>${toShortId(id)}</code> ${title}`;
  return html`<span class="chosen-commit">Commit ${number} of ${total}: ${commitLink(loaded.project, { id, text: name })}</span>${before}${after}<a class="button" href="${pathTo(changes, undefined)}">All changes</a>`;
};

/** Renders the link to the first commit; null if there is at most one, or another comparison is shown. */
export const firstCommitLink = (changes: Changes): Html | null => {
  const { firstCommit, version, since } = changes;
  if (firstCommit === null || since !== null || (version?.commits_count ?? 0) < 2) return null;
  return html`<a class="button" href="${pathTo(changes, firstCommit)}" data-key="c" data-key-name="First commit">Commit by commit</a>`;
};
