/** The form for a comment on a line, on several lines, or on a file. */
import { zeroOid } from '../../../../../platform/git/protocol_types.ts';
import { type CommentPosition, titleOfComment } from '../../../parts/diff/comment_position.ts';
import { diffFileId } from '../../../parts/diff/file_card.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { changesPath, choiceOf } from './changes_address.ts';
import type { Changes } from './load_changes.ts';
import { type Cards, formPath, seenHead, token } from './card_context.ts';

/** Returns the commits for the position of a comment: the commits of the version, or of the chosen commit. */
const diffShas = ({ version, commit }: Changes): { base: string; start: string; head: string } => {
  if (commit !== null) {
    const base = commit.parent ?? zeroOid;
    return { base, start: base, head: commit.id };
  }
  return {
    base: version?.base_commit_sha ?? '',
    start: version?.start_commit_sha ?? '',
    head: version?.head_commit_sha ?? '',
  };
};

type CommentFormPosition = CommentPosition & { typed?: string | undefined; from?: number | undefined };

/** Returns the address of the form with the lines as a suggestion. */
const suggestPath = ({ changes }: Cards, { file, line, from }: CommentFormPosition): string => {
  const comment = `${diffFileId(file)}_${line}`;
  const query = { ...choiceOf(changes.query), comment, from, suggest: true };
  return `${changesPath(changes.loaded, query)}#new_comment`;
};

/** Renders the form. The script shows it at other lines, too: it changes the fields `path`, `old_path` and `line`. */
export const commentForm = (cards: Cards, { file, line, typed, from }: CommentFormPosition): Html => {
  const { changes, isReviewing } = cards;
  const { loaded } = changes;
  const { base, start, head } = diffShas(changes);
  return html`<section class="card comment-form" id="new_comment" aria-label="New comment"><form method="post" action="${formPath(cards, '/comments')}" data-inline class="body">${token(cards)}${seenHead(cards)}${hidden('base', base)}${hidden('start', start)}${hidden('head', head)}${hidden(
    'path',
    file.new_path,
  )}${hidden('old_path', file.old_path)}${hidden('line', line ?? '')}${markdownEditor({
    name: 'body',
    id: 'new_comment_text',
    label: titleOfComment(line),
    rows: 4,
    required: true,
    value: typed ?? '',
    project: loaded.project,
    actions: 'merge_request',
  })}<p${line?.startsWith('new') !== true && html` hidden`}><a class="button small" href="${suggestPath(cards, { file, line, from })}" data-suggestion>Insert a suggestion</a></p><div class="field range-field"${line === null && html` hidden`}><label for="new_comment_from">First line, for a comment on several lines</label><input id="new_comment_from" name="from" type="number" min="1" value="${from ?? ''}"></div><div class="buttons"><button class="primary" name="intent" value="review">${
    isReviewing ? 'Add to review' : 'Start a review'
  }</button><button name="intent" value="comment">Comment now</button><a class="button" href="${formPath(cards, '')}" data-cancel>Cancel</a></div></form></section>`;
};
