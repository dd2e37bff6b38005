/** Renders the frame of every page. */
import { isFactorOverdue } from '../../../../core/access/credentials/second_factor_due.ts';
import { getDiagramServer } from '../../../../core/settings/setting_effects.ts';
import { version } from '../../../../platform/version.ts';
import { assets } from '../../assets.ts';
import type { Flash, LinkPreview, View, Visit } from '../../page.ts';
import type { Preferences } from '../../request/preferences.ts';
import { type Html, html } from '../html.ts';
import { broadcastBanners } from './broadcast_banners.ts';
import { impersonationBanner } from './impersonation_banner.ts';
import { moment } from '../timestamp.ts';
import { topBar } from './top_bar.ts';

/** Seconds after which a live page reloads where scripts are off. */
const reloadAfter = 5;

const reload = html`<noscript><meta http-equiv="refresh" content="${reloadAfter}"></noscript>
`;

/** Renders Open Graph properties. @param url of the page, without its query */
const previewPart = (title: string, url: string, { description, image }: LinkPreview): Html =>
  html`<meta name="description" content="${description}">
<meta property="og:site_name" content="Gantry">
<meta property="og:type" content="website">
<meta property="og:url" content="${url}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
${(image ?? null) !== null && html`<meta property="og:image" content="${image}">`}<meta name="twitter:card" content="summary">
`;

/**
 * Renders the start of a document.
 * @param url of the page, for previews of links
 * @param scheme that the browser prefers; default: the system's scheme
 * @param hasScript false if the policy of the page lets no script run
 */
const head = (
  { title, live, feeds = [], preview, head: more }: View,
  {
    url,
    scheme = 'system',
    hasScript = true,
  }: { url?: string; scheme?: Preferences['scheme']; hasScript?: boolean },
): Html => html`<!doctype html>
<html lang="en"${scheme !== 'system' && html` data-scheme="${scheme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${(preview === undefined || preview.noIndex === true) && html`<meta name="robots" content="noindex">`}
<title>${title} · Gantry</title>
<link rel="icon" href="${assets().favicon}">
<link rel="stylesheet" href="${assets().style}">
${hasScript && html`<script type="module" src="${assets().script}"></script>`}
${feeds.map((feed) => html`<link rel="alternate" type="application/atom+xml" title="${feed.title}" href="${feed.path}">`)}
${preview !== undefined && url !== undefined && previewPart(title, url, preview)}${more}${live === true && reload}</head>
`;

const foot = html`<footer class="foot">Gantry ${version} · <a href="/help">Help</a> · <a href="/-/docs/api">API</a></footer>
</body>
</html>
`;

const flashPart = ({ kind, text }: Flash): Html =>
  html`<p class="flash ${kind}" role="${kind === 'notice' ? 'status' : 'alert'}">${text}</p>
`;

/** Reminds the user of the second factor that one of their groups requires. */
const factorPart = ({ call, factorDueAt }: Visit): Html | null => {
  if (factorDueAt === null) return null;
  const isOverdue = isFactorOverdue(factorDueAt, call.now);
  const until = isOverdue ? html`to continue` : html`by ${moment(factorDueAt)}`;
  return html`<p class="flash ${isOverdue ? 'alert' : 'notice'}" role="status">One of your groups requires two-factor sign-in.
<a href="/profile/two_factor">Set up</a> ${until}.</p>
`;
};

/** Names the diagram server for the parts of a page that show diagrams. */
const diagrams = ({ call }: Visit): Html | null => {
  const server = getDiagramServer(call.settings);
  return server === null ? null : html` data-diagram-server="${server}"`;
};

/** Renders a whole page. */
export const layout = async (visit: Visit, view: View): Promise<Html> => {
  const { scheme, hasShortcuts } = visit.preferences;
  const header = await view.header?.();
  const url = visit.call.baseUrl + (visit.path.split('?')[0] ?? '');
  const isNarrow = visit.call.actor === null && header === undefined && view.preview === undefined;
  const style = isNarrow ? html` class="narrow"` : view.isWide === true && html` class="wide-page"`;
  return html`${head(view, { url, scheme })}<body${visit.call.actor !== null && html` data-user="${visit.call.actor.user.id}" data-editor-tools="${assets().editor_tools}"`}${diagrams(visit)}${view.home !== undefined && html` data-home="${view.home}"`}${!hasShortcuts && html` data-no-keys`}>
<a class="skip" href="#main">Skip to the content</a>${view.skip !== undefined && html`<a class="skip" href="${view.skip.to}">${view.skip.text}</a>`}
${impersonationBanner(visit)}${await broadcastBanners(visit)}${await topBar(visit, view.creatable)}${header}<main id="main"${style}>
${visit.flash !== null && flashPart(visit.flash)}${factorPart(visit)}${view.body}
</main>
${foot}`;
};

/** Renders a page without a user, for errors. */
export const plainLayout = (view: View): string =>
  html`${head(view, { hasScript: false })}<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="topbar"><a class="brand" href="/">Gantry</a></header>
<main id="main" class="narrow">
${view.body}
</main>
${foot}`.text;
