/** The page behind the link of a mail that unsubscribes, without signing in. */
import { object, text } from '../../../../platform/http/schema.ts';
import { readUnsubscription, unsubscribeByLink } from '../../../../outgoing/mail/unsubscribe.ts';
import { form } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { page } from '../../page.ts';

const path = '/-/unsubscribe/:token';
const params = object({ token: text({ maxLength: 200 }) });

const scopes = {
  Issue: 'about this issue',
  MergeRequest: 'about this merge request',
  Project: 'of this project',
  General: 'of projects and groups that have no notification level of their own',
};

const preview = { description: 'Unsubscribe from mails', noIndex: true };

export const pages = [
  page({
    method: 'GET',
    path,
    audience: 'anyone',
    withoutRequiredFactor: true,
    params,
    handle: async (visit, { token }) => {
      const { target_type } = readUnsubscription(visit.call.platform, token);
      const body = html`<h1>Unsubscribe</h1>
<p>You will no longer get mail ${scopes[target_type]} unless you are mentioned.</p>
${form(visit, { action: `/-/unsubscribe/${token}`, submit: 'Unsubscribe' })}`;
      return { title: 'Unsubscribe', body, preview };
    },
  }),
  page({
    method: 'POST',
    path,
    audience: 'anyone',
    withoutRequiredFactor: true,
    // Mail programs send it by themselves (RFC 8058). The signature of the link authorizes it.
    isSignedLink: true,
    params,
    handle: async (visit, { token }) => {
      const { target_type } = await unsubscribeByLink(visit.call.platform, token);
      const body = html`<h1>Unsubscribed</h1>
<p>You no longer get mail ${scopes[target_type]} unless you are mentioned.</p>`;
      return { title: 'Unsubscribed', body, preview };
    },
  }),
];
