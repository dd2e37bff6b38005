/** The page on which a comment is edited or deleted. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { deleteNote } from '../../../../planning/notes/delete.ts';
import type { NoteRow } from '../../../../planning/notes/note_row.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { requireNoteAdmin } from '../../../../planning/notes/rules.ts';
import { updateNote } from '../../../../planning/notes/update.ts';
import { id, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { type FormProblems, attempt, form, hidden, noProblems, withFormStatus } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { type Texts, baseOf, requireBase } from '../../parts/timeline/edit_conflicts.ts';
import { type EditConflict, conflictCard, findConflict, submitLabel } from './edit_conflict_card.ts';
import { type IssuableKind, oneRecord } from './issuable_kind.ts';
import { problemText } from './submit_form.ts';

const oneNote = { ...oneRecord, note: id() };

type LoadedNote<L> = { loaded: L; note: NoteRow };
type Named = { project: string; iid: number; note: number };

const findOwnNote = async <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  call: Call,
  { project, iid, note: noteId }: Named,
): Promise<LoadedNote<L>> => {
  const loaded = await kind.find(call, project, iid);
  const note = await findNote(call, loaded.target, noteId);
  requireNoteAdmin(call, loaded, note);
  return { loaded, note };
};

/** Wraps the text of a comment for the check of conflicting edits. */
const textsOf = (body: string): Texts => ({ title: '', description: body });

type Edited = { body: string; problems?: FormProblems; conflict?: EditConflict | null };

const editView = <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  visit: Visit,
  { loaded, note }: LoadedNote<L>,
  { body, problems = noProblems, conflict = null }: Edited,
): View => {
  const action = kind.path(loaded, `/notes/${note.id}`);
  const said = problems === noProblems ? null : problemText(problems);
  const { word } = kind.noun;
  const content = html`${form(
    visit,
    { action, submit: submitLabel(conflict), problems: { text: said, fields: {} } },
    markdownEditor({ name: 'body', label: 'Comment', value: body, rows: 12, project: loaded.project }),
    hidden('base', baseOf(textsOf(note.body))),
  )}
<p><a href="${kind.path(loaded)}#note_${note.id}">Back to the ${word}</a></p>${conflictCard(conflict, `${action}/edit`, 'Comment')}
<section class="card danger-zone"><header><h2>Delete this comment</h2></header><div class="body">${form(
    visit,
    {
      action: `${action}/delete`,
      submit: 'Delete comment',
      danger: true,
    },
  )}</div></section>`;
  const sign = kind.noun.type === 'Issue' ? '#' : '!';
  const title = `Edit a comment on ${sign}${loaded.target.iid}`;
  const view = kind.partView(visit, loaded, title, content);
  return withFormStatus(view, problems);
};

const updatePage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/notes/:note`,
    audience: 'user',
    params: object({ ...oneNote, body: optional(longText()), base: optional(text()) }),
    handle: async (visit, { body: typed = '', base, ...named }) => {
      const { call } = visit;
      const found = await findOwnNote(kind, call, named);
      const { loaded, note } = found;
      const body = typed.replaceAll('\r\n', '\n');
      const problems = await attempt(
        async () =>
          await updateNote(kind.noun, call, loaded, {
            note,
            body,
            check: (current) => {
              if (base !== undefined) requireBase(base, textsOf(current.body), 'comment');
            },
          }),
      );
      if (problems !== null) {
        const current = await findOwnNote(kind, call, named);
        const saved = textsOf(current.note.body);
        const conflict = base === undefined ? null : findConflict(base, saved, textsOf(body));
        return editView(kind, visit, current, { body, problems, conflict });
      }
      return redirect(`${kind.path(loaded)}#note_${note.id}`);
    },
  });

export const editCommentPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [
  page({
    method: 'GET',
    path: `${kind.served}/:iid/notes/:note/edit`,
    audience: 'user',
    params: object(oneNote),
    handle: async (visit, named) => {
      const found = await findOwnNote(kind, visit.call, named);
      return editView(kind, visit, found, { body: found.note.body });
    },
  }),
  updatePage(kind),
  page({
    method: 'POST',
    path: `${kind.served}/:iid/notes/:note/delete`,
    audience: 'user',
    params: object(oneNote),
    handle: async ({ call }, named) => {
      const { loaded, note } = await findOwnNote(kind, call, named);
      await deleteNote(kind.noun, call, loaded, note);
      return redirect(kind.path(loaded), 'The comment was deleted.');
    },
  }),
];
