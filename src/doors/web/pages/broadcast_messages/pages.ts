/** Dismisses a broadcast message. */
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';

/** Messages that are remembered; of more, the latest. */
const maxDismissed = 20;

export const pages = [
  page({
    method: 'POST',
    path: '/-/broadcast_messages/:id/dismiss',
    audience: 'anyone',
    params: object({ id: id(), return_to: optional(text({ maxLength: 4096 })) }),
    handle: async ({ call, preferences, changePreferences }, { id: messageId, return_to }) => {
      const others = preferences.dismissed.filter((one) => one !== messageId);
      await changePreferences({ ...preferences, dismissed: [...others, messageId].slice(-maxDismissed) });
      return redirect(safeRedirectPath(return_to, call.baseUrl));
    },
  }),
];
