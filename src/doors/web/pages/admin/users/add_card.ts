/** The card below a list of a user's addresses, keys or tokens. */
import { isBot } from '../../../../../identity/bots/is_bot.ts';
import { type Html, html } from '../../../parts/html.ts';
import type { Visit } from '../../../page.ts';

/** Renders the card with the form that adds one; of a bot, why it cannot have any. */
export const addCard = async (
  { call: { db } }: Visit,
  user: { id: number },
  title: string,
  content: Html,
): Promise<Html> =>
  (await isBot(db, user.id))
    ? html`<p class="hint">This user is the bot of an access token of a project or group. It has no credentials but that token, which is managed in the settings of the project or group.</p>`
    : html`<section class="card" aria-labelledby="new_title"><header><h2 id="new_title">${title}</h2></header>
<div class="body">${content}</div></section>`;
