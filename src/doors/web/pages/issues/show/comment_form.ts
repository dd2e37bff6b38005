/** The form for a comment, with the buttons that close and reopen the issue. */
import { userAvatarUrl } from '../../../../../identity/avatars/avatar_urls.ts';
import type { Visit } from '../../../page.ts';
import { avatar } from '../../../parts/avatar.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { issuePath } from '../find.ts';
import type { IssuePage } from './load.ts';

const signInPart = (path: string): Html =>
  html`<p class="card-note muted"><a href="/users/sign_in?return_to=${encodeURIComponent(path)}">Sign in</a> to comment.</p>`;

/** @param typed comment that was not accepted */
export const commentForm = (visit: Visit, shown: IssuePage, typed = ''): Html | null => {
  const { loaded, rights } = shown;
  const { actor } = visit.call;
  if (actor === null) return signInPart(issuePath(loaded));
  if (!rights.comment) {
    return loaded.target.discussion_locked
      ? html`<p class="card-note muted">The discussion is locked. Only members of the project may comment.</p>`
      : null;
  }
  const isOpen = loaded.issue.state === 'opened';
  const stateButton =
    rights.update &&
    html`<button name="intent" value="${isOpen ? 'close' : 'reopen'}">${isOpen ? 'Close issue' : 'Reopen issue'}</button>`;
  return html`<div class="note">${avatar({ name: actor.user.name, avatar_url: userAvatarUrl(visit.call, actor.user), size: 'medium' })}<form class="card" method="post" action="${issuePath(loaded, '/notes')}"><div class="body">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${markdownEditor({
    name: 'body',
    id: 'new_comment',
    label: 'Add a comment',
    placeholder: 'Write a comment, or quick actions such as /assign',
    rows: 5,
    value: typed,
    project: loaded.project,
  })}<div class="buttons right">${stateButton}<button name="intent" value="thread">Start thread</button><button class="primary" name="intent" value="comment">Comment</button></div></div></form></div>`;
};
