/** The page on which a comment is edited or deleted. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import { deleteNote } from '../../../../planning/notes/delete.ts';
import type { NoteRow } from '../../../../planning/notes/note_row.ts';
import { findNote } from '../../../../planning/notes/queries.ts';
import { requireNoteAdmin } from '../../../../planning/notes/rules.ts';
import { updateNote } from '../../../../planning/notes/update.ts';
import { id, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems, problemText, withFormStatus } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { fingerprintTexts, noteTexts, requireUnchanged } from '../../parts/timeline/edit_conflicts.ts';
import { submitLabel } from '../../parts/fields/saved_meanwhile.ts';
import { type EditConflict, conflictCard, findConflict } from './edit_conflict_card.ts';
import { type CommentedKind, recordParams } from './issuable_kind.ts';
import { returnPath } from './return_path.ts';
import { submitForm } from './submit_form.ts';
import { changeTaskOf, taskParams } from './task_pages.ts';

const oneNote = { ...recordParams, note: id() };

type LoadedNote<L> = { loaded: L; note: NoteRow };
type Named = { project: string; iid: number; note: number };

/** Loads a comment that the caller may edit. */
const findOwnNote = async <L extends LoadedNoteable>(
  kind: CommentedKind<L>,
  call: Call,
  { project, iid, note: noteId }: Named,
): Promise<LoadedNote<L>> => {
  const loaded = await kind.find(call, project, iid);
  const note = await findNote(call, loaded.target, noteId);
  requireNoteAdmin(call, loaded, note);
  return { loaded, note };
};

type Edited = { body: string; problems?: FormProblems; conflict?: EditConflict | null };

const editView = <L extends LoadedNoteable>(
  kind: CommentedKind<L>,
  visit: Visit,
  { loaded, note }: LoadedNote<L>,
  { body, problems = noProblems, conflict = null }: Edited,
): View => {
  const action = kind.path(loaded, `/notes/${note.id}`);
  const said = problems === noProblems ? null : problemText(problems);
  const { word } = kind.noun;
  const content = html`<div data-edit-form>${form(
    visit,
    { action, submit: submitLabel(conflict !== null), problems: { text: said, fields: {} } },
    markdownEditor({ name: 'body', label: 'Comment', value: body, rows: 12, project: loaded.project }),
    hidden('base', fingerprintTexts(noteTexts(note.body))),
  )}${conflictCard(conflict, `${action}/edit`, 'Comment')}<details class="act"><summary>Delete this comment</summary>${form(
    visit,
    { action: `${action}/delete`, submit: 'Delete comment', danger: true },
  )}</details></div>
<p><a href="${kind.path(loaded)}#note_${note.id}">Back to the ${word}</a></p>`;
  const title = `Edit a comment on ${kind.sign}${loaded.target.iid}`;
  const view = kind.partView(visit, loaded, title, content);
  return withFormStatus(view, problems);
};

const updatePage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  formPage({
    path: `${kind.routePath}/:iid/notes/:note`,
    audience: 'user',
    address: { ...oneNote, base: optional(text()) },
    fields: { body: optional(longText()) },
    find: async ({ call }, { base, ...named }) => ({
      own: await findOwnNote(kind, call, named),
      named,
      base,
    }),
    fromSent: ({ body }) => fieldText(body),
    run: async ({ call }, { own: { loaded, note }, base }, { body = '' }) => {
      await updateNote(kind.noun, call, loaded, {
        note,
        body,
        check: (current) => {
          if (base === undefined) return;
          requireUnchanged(base, noteTexts(current.body), 'comment', noteTexts(body));
        },
      });
      return redirect(`${kind.path(loaded)}#note_${note.id}`);
    },
    view: async (visit, { named, base }, { values: body, problems }) => {
      const current = await findOwnNote(kind, visit.call, named);
      const saved = noteTexts(current.note.body);
      const conflict = base === undefined ? null : findConflict(base, saved, noteTexts(body));
      return editView(kind, visit, current, { body, problems, conflict });
    },
  });

const tasksPage = <L extends LoadedNoteable>(kind: CommentedKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/notes/:note/tasks`,
    audience: 'user',
    params: object({ ...oneNote, ...taskParams }),
    handle: async (visit, { line = 0, base = '', return_to, ...named }) => {
      const { call } = visit;
      const { loaded, note } = await findOwnNote(kind, call, named);
      const operation = async (): Promise<void> => {
        const body = changeTaskOf(note.body, line);
        const check = (current: { body: string }): void =>
          requireUnchanged(base, noteTexts(current.body), 'comment');
        await updateNote(kind.noun, call, loaded, { note, body, check });
      };
      const next = (): string => returnPath(visit, return_to, `${kind.path(loaded)}#note_${note.id}`);
      return await submitForm({ kind, visit, loaded }, operation, { next });
    },
  });

export const editCommentPages = <L extends LoadedNoteable>(kind: CommentedKind<L>) => [
  page({
    method: 'GET',
    path: `${kind.routePath}/:iid/notes/:note/edit`,
    audience: 'user',
    params: object(oneNote),
    handle: async (visit, named) => {
      const own = await findOwnNote(kind, visit.call, named);
      return editView(kind, visit, own, { body: own.note.body });
    },
  }),
  updatePage(kind),
  tasksPage(kind),
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/notes/:note/delete`,
    audience: 'user',
    params: object(oneNote),
    handle: async ({ call }, named) => {
      const { loaded, note } = await findOwnNote(kind, call, named);
      await deleteNote(kind.noun, call, loaded, note);
      return redirect(kind.path(loaded), 'The comment was deleted.');
    },
  }),
];
