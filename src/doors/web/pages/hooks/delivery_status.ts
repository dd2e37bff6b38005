/** Renders the state of hooks and the outcome of attempts. */
import { STATUS_CODES } from '../../../../platform/http/node_http.ts';
import { isLoggedSuccess } from '../../../../outgoing/deliveries/attempt_status.ts';
import type { AttemptSummary } from '../../../../outgoing/deliveries/overview.ts';
import { isPaused } from '../../../../outgoing/hooks/json.ts';
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { capitalize } from '../../../../platform/unicode.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';

type Answer = Pick<AttemptSummary, 'response_status' | 'error'>;

/** Why there was no answer, by the code of the error. */
const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed by the receiver',
  ENOTFOUND: 'host not found',
  timeout: 'no answer within 10 seconds',
};

/** `500 Internal Server Error`, or why there was no answer. */
export const describeAnswer = ({ response_status, error }: Answer): string => {
  const status = response_status === null ? '' : `${response_status} ${STATUS_CODES[response_status] ?? ''}`;
  return [status.trim(), reasons[error ?? ''] ?? error ?? ''].filter((part) => part !== '').join(', ');
};

/** Renders the outcome of an attempt: an icon and the answer. */
export const outcomeBadge = (answer: Answer): Html =>
  isLoggedSuccess(answer)
    ? html`<span class="status ok">${icon('check')} ${describeAnswer(answer)}</span>`
    : html`<span class="status bad">${icon('cross')} ${capitalize(describeAnswer(answer))}</span>`;

/** Renders the state of a hook: active, failing or paused. */
export const stateBadge = (hook: Pick<HookRow, 'failures' | 'disabled_until'>, now: number): Html => {
  if (isPaused(hook, now)) return html`<span class="status bad">${icon('warning')} Paused</span>`;
  return hook.failures > 0
    ? html`<span class="status wait">${icon('warning')} Failing</span>`
    : html`<span class="status ok">${icon('check')} Active</span>`;
};
