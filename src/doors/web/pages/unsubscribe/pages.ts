/** The page behind the link of a mail that unsubscribes, without signing in. */
import { object, text } from '../../../../platform/http/schema.ts';
import {
  type Unsubscribed,
  type Unsubscription,
  readUnsubscription,
  unsubscribeByLink,
} from '../../../../outgoing/mail/unsubscribe.ts';
import { form } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { page } from '../../page.ts';

const path = '/-/unsubscribe/:token';
const params = object({ token: text({ maxLength: 200 }) });

const scopes = {
  Issue: 'about this issue unless you are mentioned',
  MergeRequest: 'about this merge request unless you are mentioned',
  Project: 'of this project unless you are mentioned or subscribed',
  General: 'of any project or group unless you are mentioned or subscribed',
};

const ownLevels = (count: number): string =>
  count === 1 ? 'the level of one project or group' : `the levels of ${count} projects and groups`;

/** Says what the link changed. */
const describeChange = ({ target_type, isChanged, lowered }: Unsubscription & Unsubscribed): string => {
  if (!isChanged) return `Nothing was changed: you already get no mail ${scopes[target_type]}.`;
  const also = lowered === 0 ? '' : ` This also lowered ${ownLevels(lowered)} to “On mention”.`;
  return `You no longer get mail ${scopes[target_type]}.${also}`;
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
<p>You will no longer get mail ${scopes[target_type]}.${target_type === 'General' && ' This also lowers the levels that you set for single projects and groups.'}</p>
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
      const done = await unsubscribeByLink(visit.call.platform, token);
      const body = html`<h1>Unsubscribed</h1>
<p>${describeChange(done)}</p>`;
      return { title: 'Unsubscribed', body, preview };
    },
  }),
];
