import type { Platform } from '../../../../core/platform.ts';
import { type Html, html } from '../../parts/html.ts';

/** Renders the version that runs, with a link to the changelog. Contacts no other service. */
export const versionLink = ({ version, revision }: Platform): Html =>
  html`${version} <span class="quiet">(${revision})</span> <a href="/help/changelog">What is new</a>`;
