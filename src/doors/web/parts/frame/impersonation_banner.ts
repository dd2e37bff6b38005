import type { Visit } from '../../page.ts';
import { form } from '../form.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

/** Tells administrators on every page that they act as another user, and lets them stop. */
export const impersonationBanner = (visit: Visit): Html | null => {
  const { actor } = visit.call;
  if (actor === null || actor.sudo_by_id === null) return null;
  const { name, username } = actor.user;
  return html`<aside class="banner" aria-label="Impersonation"><p>${icon('warning')} You act as ${name} (@${username}).</p>
${form(visit, { action: '/users/stop_impersonating', submit: 'Stop impersonating', isQuiet: true })}</aside>
`;
};
