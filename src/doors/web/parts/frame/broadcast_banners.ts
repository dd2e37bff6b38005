/** Messages of administrators, on every page that they address. */
import type { BroadcastMessage } from '../../../instance/broadcast_messages/queries.ts';
import { listOnPage } from '../../../instance/broadcast_messages/list_for_viewer.ts';
import type { Visit } from '../../page.ts';
import { form, hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { markdownTexts } from '../markdown.ts';

/** Notifications are always dismissable, as they cover a part of the page. */
const isDismissable = ({ dismissable, broadcast_type }: BroadcastMessage): boolean =>
  dismissable === 1 || broadcast_type === 'notification';

const banner = (visit: Visit, message: BroadcastMessage, content: Html): Html =>
  html`<aside class="broadcast kind-${message.broadcast_type} theme-${message.theme}" aria-label="Message of the administrators">${icon(
    'info',
  )}<div class="prose">${content}</div>${
    isDismissable(message) &&
    form(
      visit,
      { action: `/-/broadcast_messages/${message.id}/dismiss`, submit: 'Dismiss', isQuiet: true },
      visit.returnPath === null ? null : hidden('return_to', visit.returnPath),
    )
  }</aside>
`;

/** Renders the messages that address this page, except messages dismissed in this browser; null if there are none. */
export const broadcastBanners = async (visit: Visit): Promise<Html | null> => {
  const { call, path, preferences } = visit;
  const shown = (await listOnPage(call, path.split('?')[0] ?? path)).filter(
    (message) => !isDismissable(message) || !preferences.dismissed.includes(message.id),
  );
  if (shown.length === 0) return null;
  const contents = await markdownTexts(
    call,
    shown.map(({ message }) => message),
  );
  return html`${shown.map((message, at) => banner(visit, message, contents[at] as Html))}`;
};
