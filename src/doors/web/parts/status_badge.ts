import { type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

type Look = readonly [name: IconName, style: string, word: string];

const looks: Record<string, Look> = {
  created: ['circle', 'off', 'Created'],
  waiting_for_resource: ['clock', 'wait', 'Waits for a resource'],
  pending: ['clock', 'wait', 'Pending'],
  running: ['spinner', 'run', 'Running'],
  success: ['check', 'ok', 'Passed'],
  failed: ['cross', 'bad', 'Failed'],
  canceling: ['cross-circle', 'off', 'Canceling'],
  canceled: ['cross-circle', 'off', 'Canceled'],
  skipped: ['skip', 'off', 'Skipped'],
  manual: ['play', 'wait', 'Manual'],
  scheduled: ['clock', 'wait', 'Delayed'],
};

const lookOf = (status: string, isAllowed: boolean): Look => {
  const [name, style, word]: Look = looks[status] ?? ['info', 'off', status];
  return status === 'failed' && isAllowed ? ['warning', 'wait', `${word} (allowed to)`] : [name, style, word];
};

/** Returns the word that pages show for a status. */
export const statusWord = (status: string): string => lookOf(status, false)[2];

/** Renders the status of a job or pipeline: an icon and the word. */
export const statusBadge = (status: string, isAllowed = false): Html => {
  const [name, style, word] = lookOf(status, isAllowed);
  return html`<span class="status ${style}">${icon(name)} ${word}</span>`;
};

/** Renders the status as an icon, with the word for screen readers. */
export const statusIcon = (status: string, isAllowed = false): Html => {
  const [name, style, word] = lookOf(status, isAllowed);
  return html`<span class="status ${style}" title="${word}">${icon(name, word)}</span>`;
};

/** Renders a link that shows the status of its target as an icon: `build: passed`. */
export const statusLink = (path: string, subject: string, status: string): Html => {
  const [name, style, word] = lookOf(status, false);
  const label = `${subject}: ${word.toLowerCase()}`;
  return html`<a class="status ${style}" href="${path}" title="${label}" aria-label="${label}">${icon(name)}</a>`;
};

/** Renders the status as an icon with the word for screen readers. */
export const statusMark = (status: string): Html => {
  const [name, style, word]: Look = looks[status] ?? ['info', 'off', status];
  return html`<span class="status ${style}">${icon(name, `Pipeline: ${word.toLowerCase()}`)}</span>`;
};
