import type { Platform } from '../../../../core/platform.ts';
import { type Html, html } from '../../parts/html.ts';

/** Renders the version that runs, with a link to what each version brought. No other service is asked for versions. */
export const versionLink = ({ version, revision }: Platform): Html =>
  html`${version} <span class="quiet">(${revision})</span> <a href="/help/changelog">What is new</a>`;
