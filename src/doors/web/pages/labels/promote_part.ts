/** The part of a label's or milestone's form that moves it to the group of its project. */
import type { Visit } from '../../page.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import type { OwnedList } from './project_or_group_routes.ts';

/** @param path address of the record */
export const promotePart = (
  visit: Visit,
  { canPromote = false }: OwnedList,
  { path, word }: { path: string; word: 'label' | 'milestone' },
): Html | null =>
  canPromote
    ? html`<section class="card form-page"><header><h2>Promote to the group</h2></header><div class="body stack">
<p>All projects of the group get this ${word}. It replaces ${word}s of the same title in the projects. This cannot be undone.</p>
${form(visit, { action: `${path}/promote`, submit: `Promote ${word}`, isQuiet: true })}</div></section>
`
    : null;
