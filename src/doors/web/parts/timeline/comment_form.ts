/** The form for a comment, with the buttons that close and reopen the record. */
import { userAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { isIssuable } from '../../../../planning/issuables/target.ts';
import { actionSetOf } from '../../../../planning/issuables/text/quick_action_words.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../avatar.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { markdownEditor } from '../markdown_editor.ts';
import type { TimelineContext } from './timeline_context.ts';

const signInPart = (path: string): Html =>
  html`<p class="card-note muted"><a href="/users/sign_in?return_to=${encodeURIComponent(path)}">Sign in</a> to comment.</p>`;

type CommentFormOptions = {
  /** `issue` */
  word: string;
  /** The state that the form can set; null: none, for example once merged. */
  intent: 'close' | 'reopen' | null;
  /** Comment that was not accepted. */
  typed?: string | undefined;
};

const internalBox = html`<div class="field check"><input id="new_comment_internal" type="checkbox" name="internal" value="1">
<label for="new_comment_internal">${icon('lock')} Internal note: visible only to members with at least the Reporter role</label></div>`;

const verbs = { close: 'Close', reopen: 'Reopen' } as const;

export const commentForm = (
  visit: Visit,
  context: TimelineContext,
  options: CommentFormOptions,
): Html | null => {
  const { loaded, rights, path, seenHead } = context;
  const { word, intent, typed = '' } = options;
  const { actor } = visit.call;
  if (actor === null) return signInPart(path(''));
  if (!rights.comment) {
    return loaded.target.discussion_locked
      ? html`<p class="card-note muted">The discussion is locked. Only members of the project may comment.</p>`
      : null;
  }
  const { target } = loaded;
  const actions = isIssuable(target) ? actionSetOf(target.type) : undefined;
  const stateButton =
    rights.update &&
    intent !== null &&
    html`<button name="intent" value="${intent}">${verbs[intent]} ${word}</button>`;
  return html`<div class="note">${avatar({ name: actor.user.name, avatar_url: userAvatarUrl(visit.call, actor.user), size: 'medium' })}<form class="card" method="post" action="${path('/notes')}"><div class="body">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${seenHead !== undefined && hidden('seen_head', seenHead ?? '')}${markdownEditor({
    name: 'body',
    id: 'new_comment',
    label: 'Add a comment',
    placeholder: actions === undefined ? 'Write a comment' : 'Write a comment, or type / for quick actions',
    rows: 5,
    key: 'r',
    value: typed,
    project: loaded.project,
    actions,
  })}${rights.internal && internalBox}<div class="buttons right">${stateButton}<button name="intent" value="thread">Start thread</button><button class="primary" name="intent" value="comment">Comment</button></div></div></form></div>`;
};
