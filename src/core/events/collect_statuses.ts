/** Hands changes of statuses to the observers of changes. The change log does not record them. */
import type { Tx } from '../../platform/db/open.ts';
import { collectChange } from './record_event.ts';

const collect = (tx: Tx, noun: 'Job' | 'Pipeline' | 'Deployment', id: number, project_id: number): void =>
  collectChange(tx, null, {
    kind: `${noun.toLowerCase()}.status`,
    project_id,
    target_type: noun,
    target_id: id,
  });

export const collectJobs = (tx: Tx, jobs: readonly { id: number; project_id: number }[]): void => {
  for (const { id, project_id } of jobs) collect(tx, 'Job', id, project_id);
};

export const collectPipeline = (tx: Tx, { id, project_id }: { id: number; project_id: number }): void =>
  collect(tx, 'Pipeline', id, project_id);

export const collectDeployment = (tx: Tx, { id, project_id }: { id: number; project_id: number }): void =>
  collect(tx, 'Deployment', id, project_id);
