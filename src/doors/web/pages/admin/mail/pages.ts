/** Mail: the configured server, a test mail, and the latest mails. */
import { isMailOn } from '../../../../../core/mail/enqueue_mails.ts';
import {
  type KeptMail,
  type LatestMail,
  findMail,
  listLatestMails,
  sendTestMail,
} from '../../../../../outgoing/mail/latest_mails.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { RawPage, type Visit, page, redirect } from '../../../page.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';

const path = '/admin/mail';

const stateNames: Record<LatestMail['state'], string> = {
  pending: 'Waiting',
  sent: 'Sent',
  failed: 'Failed',
};

/** The subject, if it may be shown. */
const shownSubject = ({ subject, kind, is_secret }: LatestMail): string =>
  subject ?? (is_secret === 1 ? `${kind} (confidential)` : kind);

const row = (mail: LatestMail): Html => html`<tr>
<th scope="row"><a href="${path}/${mail.id}">${shownSubject(mail)}</a></th>
<td>${mail.username}</td>
<td>${stateNames[mail.state]}</td>
<td>${mail.attempts}</td>
<td>${moment(mail.created_at)}</td>
<td>${mail.state === 'pending' ? moment(mail.next_attempt_at) : momentOr(mail.sent_at, '')}</td>
<td class="details">${mail.error}</td>
</tr>
`;

const table = (
  mails: readonly LatestMail[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Latest mails"><table>
<thead><tr><th scope="col">Subject</th><th scope="col">To</th><th scope="col">State</th><th scope="col">Failed attempts</th>
<th scope="col">Created</th><th scope="col">Sent, or next attempt</th><th scope="col">Last error</th></tr></thead>
<tbody>${mails.map(row)}</tbody>
</table></div>`;

/** The server without its user and password. */
const serverName = ({ call }: Visit): string => URL.parse(call.platform.config.smtp_url ?? '')?.host ?? '';

const status = (visit: Visit): Html =>
  isMailOn(visit.call.platform)
    ? html`<p>Mail is sent through ${serverName(visit)} as ${visit.call.platform.config.mail_from}.</p>
${form(visit, { action: `${path}/test`, submit: 'Send me a test mail' })}`
    : html`<p>Mail is off: set <code>GANTRY_SMTP_URL</code> and <code>GANTRY_MAIL_FROM</code>.</p>`;

const text = ({ id: mailId, is_secret, body, html: markup }: KeptMail): Html => {
  if (is_secret === 1) return html`<p>The text is confidential and was not stored.</p>`;
  if (body === null) return html`<p>The text is stored once the mail is sent.</p>`;
  return html`${markup !== null && html`<p><a href="${path}/${mailId}/html">Show the HTML version</a></p>`}
<pre class="lines">${body}</pre>`;
};

/** For the HTML of a mail, which has texts of users: nothing is loaded, sent or run. */
const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
};

export const mailPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => {
      const mails = await listLatestMails(visit.call.db);
      const list =
        mails.length === 0
          ? html`<div class="card">${emptyState({ icon: 'bell', title: 'No mails yet', text: 'Mails that the service sends appear here.' })}</div>`
          : table(mails);
      return adminView(
        { path, title: 'Mail' },
        html`${status(visit)}
<h2>Latest mails</h2>
${list}`,
      );
    },
  }),
  page({
    method: 'POST',
    path: `${path}/test`,
    audience: 'admin',
    params: object({}),
    handle: async ({ call }) => {
      if (!isMailOn(call.platform)) return redirect(path, 'No mail server is configured.');
      await sendTestMail(call);
      return redirect(path, 'A test mail to your address is on its way.');
    },
  }),
  page({
    method: 'GET',
    path: `${path}/:id`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async ({ call }, params) => {
      const mail = await findMail(call.db, params.id);
      const title = shownSubject(mail);
      return adminView(
        { path, title },
        html`<dl>
<dt>To</dt><dd>${mail.username} (${mail.email})</dd>
<dt>Kind</dt><dd>${mail.kind}, ${mail.reason}</dd>
<dt>State</dt><dd>${stateNames[mail.state]}</dd>
<dt>Created</dt><dd>${moment(mail.created_at)}</dd>
<dt>Sent</dt><dd>${momentOr(mail.sent_at, '')}</dd>
${mail.message_id !== null && html`<dt>Message-ID</dt><dd>${mail.message_id}</dd>`}
${mail.error !== null && html`<dt>Last error</dt><dd>${mail.error}</dd>`}
</dl>
${text(mail)}`,
      );
    },
  }),
  page({
    method: 'GET',
    path: `${path}/:id/html`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async ({ call }, params) => {
      const { html: markup } = await findMail(call.db, params.id);
      if (markup === null) throw notFound('Mail');
      return new RawPage(markup, htmlHeaders);
    },
  }),
];
