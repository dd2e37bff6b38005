/** Renders the frame of every page. */
import { isFactorOverdue } from '../../../core/access/credentials/second_factor_due.ts';
import { getDiagramServer } from '../../../core/settings/setting_effects.ts';
import { version } from '../../../platform/version.ts';
import { hidden } from './form.ts';
import { type Html, html } from './html.ts';
import { liveScriptPath } from '../live_script.ts';
import { moment } from './moment.ts';
import type { Flash, View, Visit } from '../page.ts';
import { iconPath, stylePath } from './style.ts';

/** Seconds after which a live page reloads where scripts are off. */
const reloadAfter = 5;

const liveParts = html`<script src="${liveScriptPath}" defer></script>
<noscript><meta http-equiv="refresh" content="${reloadAfter}"></noscript>
`;

const head = (title: string, isLive = false): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Gantry</title>
<link rel="icon" href="${iconPath}">
<link rel="stylesheet" href="${stylePath}">
${isLive && liveParts}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
`;

const foot = html`<footer class="foot">Gantry ${version} · <a href="/-/docs/api">API</a></footer>
</body>
</html>
`;

const signOut = (visit: Visit): Html =>
  html`<form method="post" action="/users/sign_out">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}<button class="plain">Sign out</button></form>`;

const top = (visit: Visit): Html => {
  const { actor, admin } = visit.call;
  const links =
    actor === null
      ? html`<li><a href="/users/sign_in">Sign in</a></li>`
      : html`<li><a href="/">Projects</a></li>${
          admin && html`<li><a href="/admin/application_settings">Administration</a></li>`
        }<li><a href="/profile">${actor.user.name}</a></li><li>${signOut(visit)}</li>`;
  return html`<header class="top"><a class="brand" href="/">Gantry</a>
<nav aria-label="Main"><ul>${links}</ul></nav></header>
`;
};

const flashPart = ({ kind, text }: Flash): Html =>
  html`<p class="flash ${kind}" role="${kind === 'notice' ? 'status' : 'alert'}">${text}</p>
`;

/** Reminds the user of a second factor that a group of theirs requires. */
const factorPart = ({ call, factorDueAt }: Visit): Html | null => {
  if (factorDueAt === null) return null;
  const isOverdue = isFactorOverdue(factorDueAt, call.now);
  const until = isOverdue ? html`to go on` : html`by ${moment(factorDueAt)}`;
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
export const layout = (visit: Visit, { title, body, live }: View): string =>
  html`${head(title, live)}${top(visit)}<main id="main"${visit.call.actor === null && html` class="narrow"`}${diagrams(visit)}>
${visit.flash !== null && flashPart(visit.flash)}${factorPart(visit)}${body}
</main>
${foot}`.text;

/** Renders a page without a user, for errors. */
export const plainLayout = ({ title, body }: View): string =>
  html`${head(title)}<header class="top"><a class="brand" href="/">Gantry</a></header>
<main id="main" class="narrow">
${body}
</main>
${foot}`.text;
