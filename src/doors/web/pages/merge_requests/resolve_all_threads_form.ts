/** The form that resolves all threads of a merge request, behind a click that says what it does. */
import { spellCount } from '../../../../platform/spell_count.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { menu } from '../../parts/menu.ts';
import type { Visit } from '../../page.ts';

type ResolveAllOptions = {
  /** Address of the form. */
  action: string;
  /** Number of open threads. */
  count: number;
  /** Opens to the right. */
  isLeft?: boolean;
};

export const resolveAllPart = (visit: Visit, { action, count, isLeft = false }: ResolveAllOptions): Html =>
  menu(
    { summary: html`Resolve all`, classes: 'button small', isLeft },
    html`<form method="post" action="${action}">${hidden('authenticity_token', visit.csrfToken())}<p class="muted">Mark ${spellCount(count, 'open thread')} as resolved?</p><button>Resolve all threads</button></form>`,
  );
