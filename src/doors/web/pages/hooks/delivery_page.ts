/** The page of one delivery with request and answer, and forms that send. */
import { isDelivered } from '../../../../outgoing/deliveries/attempt.ts';
import type { Attempt } from '../../../../outgoing/deliveries/attempt.ts';
import { type LogRow, findLog, resendLog, testHook } from '../../../../outgoing/deliveries/logs.ts';
import { eventFlagNames } from '../../../../outgoing/hooks/event_flags.ts';
import { id, object, oneOf } from '../../../../platform/http/schema.ts';
import { problemsOf } from '../../parts/form_problems.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { type AnyPage, Redirect, page, redirect } from '../../page.ts';
import type { SettingsListRoute, SettingsListParams } from '../ci/owner_settings_routes.ts';
import { findHookOfOwner, shownLogUrl, titleOf } from './placed_hook.ts';
import { describeAnswer, outcomeBadge } from './delivery_status.ts';

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Indents JSON; any other text is unchanged. */
const indent = (text: string): string => {
  const value = parse(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
};

const block = (label: string, text: string): Html =>
  text === ''
    ? html`<p class="quiet">Empty</p>`
    : html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;

const headersOf = (json: string): string =>
  Object.entries(parse(json) ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');

type Side = { id: string; title: string; headers: string; body: string };

const part = ({
  id: name,
  title,
  headers,
  body,
}: Side): Html => html`<section class="card" aria-labelledby="${name}_title"><header><h2 id="${name}_title">${title}</h2></header>
<div class="body stack"><h3>Headers</h3>${block(`Headers of the ${name}`, headersOf(headers))}
<h3>Body</h3>${block(`Body of the ${name}`, indent(body))}</div></section>
`;

const parts = (log: LogRow): Html => html`<dl class="figures">
<div><dt>Answer</dt><dd>${outcomeBadge(log)}</dd></div>
<div><dt>Event</dt><dd>${log.event_name}</dd></div>
<div><dt>Duration</dt><dd>${log.execution_duration} ms</dd></div>
<div><dt>Sent</dt><dd>${moment(log.created_at)}</dd></div>
</dl>
${part({ id: 'request', title: 'Request', headers: log.request_headers, body: log.request_data })}
${part({ id: 'answer', title: 'Answer', headers: log.response_headers, body: log.response_body })}`;

type DeliveryParams = SettingsListParams & { id: number; delivery: number };

const meant = { id: id(), delivery: id() };

const show = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.routePath}/:id/deliveries/:delivery`,
    audience: kind.audience,
    params: object({ ...kind.params, ...meant }),
    handle: async (visit, params) => {
      const named = params as DeliveryParams;
      const { list, hook } = await findHookOfOwner(kind, visit, named);
      const log = await findLog(visit.call.db, hook.id, named.delivery);
      const path = `${list.path}/${hook.id}`;
      const content = html`<div class="row between"><p><a href="${path}">${titleOf(hook)}</a></p>
${button(visit, `${path}/deliveries/${log.id}/resend`, { label: 'Send again' })}</div>
<p class="quiet"><code>POST ${shownLogUrl(hook, log.url)}</code></p>
${parts(log)}`;
      return list.view(visit, `Delivery #${log.id}`, content);
    },
  });

/** Redirects to the page of the hook, which lists the attempt first. */
const reportAttempt = (path: string, attempt: Attempt): Redirect => {
  const { status, error } = attempt.outcome;
  const answer = describeAnswer({ response_status: status, error });
  if (isDelivered(attempt)) return redirect(path, `Sent. The receiver answered ${answer}.`);
  return new Redirect(path, { kind: 'alert', text: `The delivery failed: ${answer}.` });
};

/** Reports the attempt, or why it was refused. */
const reportOutcome = async (path: string, deliver: () => Promise<Attempt>): Promise<Redirect> => {
  try {
    return reportAttempt(path, await deliver());
  } catch (error) {
    const text = problemsOf(error)?.text;
    if (typeof text !== 'string') throw error;
    return new Redirect(path, { kind: 'alert', text });
  }
};

const resend = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/deliveries/:delivery/resend`,
    audience: kind.audience,
    params: object({ ...kind.params, ...meant }),
    handle: async (visit, params) => {
      const named = params as DeliveryParams;
      const { list, hook } = await findHookOfOwner(kind, visit, named);
      const log = await findLog(visit.call.db, hook.id, named.delivery);
      return await reportOutcome(
        `${list.path}/${hook.id}`,
        async () => await resendLog(visit.call, hook, log),
      );
    },
  });

const test = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/test`,
    audience: kind.audience,
    params: object({
      ...kind.params,
      id: id(),
      trigger: oneOf(eventFlagNames, { default: 'push_events' }),
    }),
    handle: async (visit, params) => {
      const { list, owner, hook } = await findHookOfOwner(kind, visit, params);
      const path = `${list.path}/${hook.id}`;
      return await reportOutcome(path, async () => await testHook(visit.call, owner, hook, params.trigger));
    },
  });

export const deliveryPages = (kind: SettingsListRoute): AnyPage[] => [show(kind), resend(kind), test(kind)];
