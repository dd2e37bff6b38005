/** The bar above the files: versions, views, counts, and the end of a review. */
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { changeTarget } from '../../../parts/timeline/change_target.ts';
import { threadSteps } from '../../../parts/timeline/thread_steps.ts';
import { viewForm } from '../../../parts/diff/diff_choice.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { resolveAllPart } from '../resolve_all_threads_form.ts';
import { relative } from '../../../parts/timestamp.ts';
import { toShortId } from '../../../../../code/repository/commits/json.ts';
import type { Changes } from './load_changes.ts';
import { type ChangesQuery, changesPath, choiceOf } from './changes_address.ts';
import { chosenCommitPart, firstCommitLink } from './commit_navigation.ts';
import { type ReviewFormState, type Reviewed, reviewMenu } from './review_menu.ts';
import { type Cards, formPath } from './card_context.ts';
import type { DiffThreads } from './load_threads.ts';

const pathTo = ({ loaded, query }: Changes, more: ChangesQuery): string =>
  changesPath(loaded, { ...choiceOf(query), ...more });

const nameOf = ({ versions, totalVersions }: Changes, version: VersionRow): string => {
  const at = versions.indexOf(version);
  if (at === -1) return 'Older version';
  return at === 0 ? `Version ${totalVersions}, latest` : `Version ${totalVersions - at}`;
};

const item = (path: string, isHere: boolean, content: Html | string, about: Html | null = null): Html =>
  html`<a href="${path}"${isHere && html` aria-current="true"`}>${content} ${about !== null && html`<span class="muted small">${about}</span>`}</a>`;

const aboutVersion = ({ head_commit_sha, created_at }: VersionRow): Html =>
  html`<code>${toShortId(head_commit_sha ?? '')}</code> ${relative(created_at)}`;

/** Renders the menu that chooses the older side of the comparison: the base, or an older version. */
const sinceMenu = (changes: Changes, version: VersionRow): Html => {
  const { since, versions, loaded } = changes;
  const { target_branch } = loaded.merge_request;
  const older = versions.filter(
    ({ id, head_commit_sha }) => id < version.id && head_commit_sha !== version.head_commit_sha,
  );
  const name = since === null ? html`<code>${target_branch}</code>` : nameOf(changes, since);
  const items = older.map((one) =>
    item(
      pathTo(changes, { start_sha: one.head_commit_sha ?? undefined }),
      one.id === since?.id,
      nameOf(changes, one),
      aboutVersion(one),
    ),
  );
  return menu(
    {
      summary: html`<span class="visually-hidden">Compare with</span> ${name} ${icon('chevron-down')}`,
      isLeft: true,
      classes: 'button',
    },
    html`${item(pathTo(changes, { start_sha: undefined }), since === null, target_branch, html`the base`)}${items}`,
  );
};

const versionMenu = (changes: Changes, version: VersionRow): Html =>
  menu(
    {
      summary: html`<span class="visually-hidden">Show</span> ${nameOf(changes, version)} ${icon('chevron-down')}`,
      isLeft: true,
      classes: 'button',
    },
    html`${changes.versions.map((one, at) =>
      item(
        pathTo(changes, { diff_id: at === 0 ? undefined : one.id, start_sha: undefined }),
        one.id === version.id,
        nameOf(changes, one),
        aboutVersion(one),
      ),
    )}`,
  );

const sinceReview = (changes: Changes): Html | null => {
  const { reviewed, since, query } = changes;
  if (reviewed === null || reviewed.head_commit_sha === null) return null;
  const isHere = since?.head_commit_sha === reviewed.head_commit_sha && query.diff_id === undefined;
  return html`<a class="button" href="${pathTo(changes, { diff_id: undefined, start_sha: isHere ? undefined : reviewed.head_commit_sha })}"${isHere && html` aria-current="true"`}>Since my last review</a>`;
};

const viewPart = ({ visit, changes }: Cards): Html => {
  const { file, whole } = changes.query;
  return viewForm(visit, changes, { path: pathTo(changes, { file, whole }) });
};

const counts = (cards: Cards, { unresolved, mayResolve }: DiffThreads): Html => {
  const { visit, changes } = cards;
  const { files, viewed } = changes;
  const seen = files.filter((file) => viewed.has(file)).length;
  return html`${unresolved > 0 && html`<span class="status bad">${icon('comment')} ${unresolved} unresolved</span>${mayResolve && resolveAllPart(visit, { action: formPath(cards, '/resolve_all'), count: unresolved, isLeft: true })}${threadSteps}`}${
    visit.call.signedIn && html`<span class="muted">${seen} of ${files.length} files viewed</span>`
  }`;
};

const toReviewed = (cards: Cards, { drafts }: DiffThreads): Reviewed => ({
  visit: cards.visit,
  loaded: cards.changes.loaded,
  action: formPath(cards, '/review'),
  head: cards.changes.version?.head_commit_sha ?? null,
  mayComment: cards.rights.mayComment,
  drafts: drafts.length,
});

/** Renders the bar. */
export const toolbar = (cards: Cards, diffThreads: DiffThreads, state: ReviewFormState): Html => {
  const { changes, visit } = cards;
  const { version, query } = changes;
  const commit = chosenCommitPart(changes);
  const versions =
    version !== null &&
    commit === null &&
    html`${sinceMenu(changes, version)}<span class="muted">&hellip;</span>${versionMenu(changes, version)}${firstCommitLink(changes)}${sinceReview(changes)}`;
  const live =
    visit.call.signedIn &&
    html` data-target="${changeTarget(changes.loaded)}" data-threads="${changesPath(changes.loaded, { ...choiceOf(query), file: query.file }, '/threads')}"`;
  const all = query.file !== undefined && html`<a class="button" href="${pathTo(changes, {})}">All files</a>`;
  return html`<div class="row between changes-bar" id="changes_bar"${live}><span class="row">${commit ?? versions}${all}</span>
<span class="row">${counts(cards, diffThreads)}${viewPart(cards)}${reviewMenu(toReviewed(cards, diffThreads), state)}</span></div>`;
};
