/** The form that resolves all threads of a merge request, behind a click that says what it does. */
import { spellCount } from '../../parts/spell_count.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { menu } from '../../parts/menu.ts';
import type { Visit } from '../../page.ts';

/** @param action address of the form @param count how many threads are open */
export const resolveAllPart = (visit: Visit, action: string, count: number): Html =>
  menu(
    { summary: html`Resolve all`, classes: 'button small' },
    html`<form method="post" action="${action}" class="confirm">${hidden('authenticity_token', visit.csrfToken())}<p>Mark ${spellCount(count, 'open thread')} as resolved?</p><button class="primary small">Resolve all threads</button></form>`,
  );
