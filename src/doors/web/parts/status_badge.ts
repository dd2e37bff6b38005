import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { activeStatuses } from '../../../core/job_statuses.ts';
import { type Html, html } from './html.ts';

const words: Record<string, readonly [mark: string, word: string]> = {
  created: ['○', 'Created'],
  waiting_for_resource: ['◌', 'Waits for a resource'],
  pending: ['◔', 'Pending'],
  running: ['◐', 'Running'],
  success: ['✔', 'Passed'],
  failed: ['✘', 'Failed'],
  canceling: ['◻', 'Canceling'],
  canceled: ['◻', 'Canceled'],
  skipped: ['»', 'Skipped'],
  manual: ['▷', 'Manual'],
  scheduled: ['◷', 'Delayed'],
};

/** Renders the status of a job or pipeline: an icon and the word. */
export const statusBadge = (status: string, isAllowed = false): Html => {
  const [mark, word] = words[status] ?? ['?', status];
  const kind = status === 'failed' && isAllowed ? 'warned' : status;
  return html`<span class="badge is-${kind}"><span aria-hidden="true">${mark}</span> ${word}${
    kind === 'warned' && ' (allowed to)'
  }</span>`;
};

/** Checks whether the status may still change without an action of a user. */
export const isMoving = (status: JobStatus): boolean => activeStatuses.includes(status);

/** `1 h 5 min`, `3 min 20 s`, `4 s` */
export const spell = (seconds: number): string => {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
};
