/** The form for the title and the description of an issue or merge request. */
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { longText, optional, text } from '../../../../platform/http/schema.ts';
import type { View, Visit } from '../../page.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { type Texts, fingerprintTexts } from '../../parts/timeline/edit_conflicts.ts';
import { submitLabel } from '../../parts/fields/saved_meanwhile.ts';
import { type EditConflict, conflictCard } from './edit_conflict_card.ts';
import type { IssuableKind } from './issuable_kind.ts';

export const editedTexts = { title: optional(longText()), description: optional(longText()) };

/** The fingerprint of the texts that the form was opened with. */
export const baseParam = { base: optional(text()) };

type Typed = { title: string; description: string };

/** Problems of the refused form. */
export type Refused = { problems: FormProblems; conflict: EditConflict | null };

export const notRefused: Refused = { problems: noProblems, conflict: null };

type Filled = Typed & {
  /** Number of the record with its sign: `#4`. */
  name: string;
  /** Fields below the description. */
  fields?: readonly (Html | null)[];
};

/** Renders the page of the form. */
export const editFormView = <L extends LoadedTarget>(
  { kind, visit, loaded }: { kind: IssuableKind<L>; visit: Visit; loaded: L },
  { name, title, description, fields = [] }: Filled,
  { problems, conflict }: Refused,
): View => {
  const path = kind.path(loaded, '/edit');
  const content = html`<div class="form-page"><div data-edit-form>${form(
    visit,
    { action: path, submit: submitLabel(conflict !== null), problems },
    input({ name: 'title', label: 'Title', value: title, required: true, problems }),
    markdownEditor({
      name: 'description',
      label: 'Description',
      value: description,
      rows: 16,
      project: loaded.project,
      problems,
    }),
    ...fields,
    hidden('base', fingerprintTexts(kind.texts(loaded))),
  )}${conflictCard(conflict, path)}</div>
<p><a href="${kind.path(loaded)}">Back to the ${kind.noun.word}</a></p></div>`;
  return withFormStatus(kind.partView(visit, loaded, `Edit ${name}`, content), problems);
};

/**
 * Returns the edit that the texts of the form mean. Lines of a form end in LF, so a description that differs by nothing
 * else stays as it is.
 */
export const toEdit = (before: Texts, { title, description }: Typed): Partial<Typed> => {
  const isSame = description === (before.description ?? '').replaceAll('\r\n', '\n');
  return isSame ? { title } : { title, description };
};
