/** Buttons for the actions possible in a job's status. */
import {
  cancelableStatuses,
  isEnded,
  playableStatuses,
  retryableStatuses,
} from '../../../../core/job_statuses.ts';
import type { JobRow } from '../../../../ci/jobs/rows.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { relative } from '../../parts/timestamp.ts';

export type JobAction = { markup: Html; inLists: boolean };

/** Returns whether the job waits for a manual start. */
export const isPlayable = ({ status }: JobRow): boolean => playableStatuses.includes(status);

/** Renders when a delayed job starts by itself. */
export const startsAt = ({ status, scheduled_at }: JobRow): Html | null =>
  status === 'scheduled' && scheduled_at !== null
    ? html` <span class="quiet small">starts ${relative(scheduled_at)}</span>`
    : null;

type ListContext = {
  /** Path of the job's page. */
  path: string;
  job: JobRow;
  /** True if it has artifacts that expire; true if it has any. */
  expires?: boolean;
  hasLeft?: boolean;
};

const startLabel = ({ status }: JobRow): string => (status === 'scheduled' ? 'Start now' : 'Start');

/** Renders an action that a click opens and another one confirms. @param loss what is lost */
export const confirmed = (label: string, loss: string, markup: Html): Html =>
  html`<details class="act danger"><summary>${label}…</summary><p>${loss}</p>${markup}</details>`;

export const actionsOf = (
  visit: Visit,
  { path, job, expires = false, hasLeft = false }: ListContext,
): JobAction[] => {
  const { status, name } = job;
  const candidates = [
    { verb: 'play', label: startLabel(job), isPossible: isPlayable(job), inLists: true },
    {
      verb: 'retry',
      label: 'Retry',
      isPossible: retryableStatuses.includes(status) && job.retried === 0,
      inLists: true,
    },
    {
      verb: 'cancel',
      label: 'Cancel',
      isPossible: cancelableStatuses.includes(status),
      inLists: true,
      danger: true,
    },
    { verb: 'keep', label: 'Keep the artifacts', isPossible: expires, inLists: false },
    {
      verb: 'erase',
      label: 'Erase log and artifacts',
      isPossible: isEnded(status) && hasLeft,
      inLists: false,
      danger: true,
      loss: 'The log and the artifacts of this job are deleted. This cannot be undone.',
    },
  ];
  return candidates
    .filter(({ isPossible }) => isPossible)
    .map(({ verb, label, inLists, danger = false, loss }) => {
      const plainButton = button(visit, `${path}/${verb}`, {
        label,
        danger,
        ...(inLists && { name: `${label} ${name}` }),
      });
      return { markup: loss === undefined ? plainButton : confirmed(label, loss, plainButton), inLists };
    });
};
