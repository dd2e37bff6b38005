import type { UserRow } from '../../../../../identity/users/queries.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';

/** Renders what sets a user apart from others: role, state, second factor. */
export const userBadges = ({ admin, state, external, ghost, two_factor_enabled }: UserRow): Html =>
  html`${admin === 1 && html`<span class="badge">${icon('shield')} Administrator</span>`}${
    state === 'blocked' && html`<span class="status bad">${icon('lock')} Blocked</span>`
  }${external === 1 && html`<span class="badge">External</span>`}${
    ghost === 1 && html`<span class="badge">Internal</span>`
  }${two_factor_enabled === 1 && html`<span class="status ok">${icon('key')} Two-factor on</span>`}`;
