/** What may be done to a job as it stands. */
import {
  cancelableStatuses,
  endedStatuses,
  playableStatuses,
  retryableStatuses,
} from '../../../job_statuses.ts';
import type { JobRow } from '../../../jobs/rows.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';
import { button } from './project_view.ts';

export type JobAction = { markup: Html; inLists: boolean };

/** Whether it waits for somebody to start it. */
export const isPlayable = ({ status }: JobRow): boolean => playableStatuses.includes(status);

type Of = {
  /** Of the page of the job. */
  path: string;
  job: JobRow;
  /** Whether it has left something that goes by itself; and whether anything. */
  expires?: boolean;
  hasLeft?: boolean;
};

export const actionsOf = (visit: Visit, { path, job, expires = false, hasLeft = false }: Of): JobAction[] => {
  const { status, name } = job;
  const wanted = [
    { verb: 'play', label: 'Start', isPossible: isPlayable(job), inLists: true },
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
      isPossible: endedStatuses.includes(status) && hasLeft,
      inLists: false,
      danger: true,
    },
  ];
  return wanted
    .filter(({ isPossible }) => isPossible)
    .map(({ verb, label, inLists, danger = false }) => ({
      markup: button(visit, `${path}/${verb}`, {
        label,
        danger,
        ...(inLists && { name: `${label} ${name}` }),
      }),
      inLists,
    }));
};
