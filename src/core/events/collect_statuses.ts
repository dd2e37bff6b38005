/**
 * Hands changes of the statuses of jobs, pipelines and their deployments to the observers of changes, and records them
 * in the change log at the end of the transaction: one row for each record, all in one insert, however often its
 * status changed.
 */
import type { Store, Tx } from '../../platform/db/open.ts';
import type { Change } from './change.ts';
import { collectChange, recordStatuses } from './record_event.ts';

/** Topic of the observer that records statuses. */
const statusesTopic = 'statuses';

type Subject = { id: number; project_id: number };

const collect = (tx: Tx, noun: 'Job' | 'Pipeline' | 'Deployment', { id, project_id }: Subject): void => {
  const kind = `${noun.toLowerCase()}.status`;
  const change: Change = { kind, project_id, target_type: noun, target_id: id };
  collectChange(tx, null, change);
  tx.collect(statusesTopic, change);
};

export const collectJobs = (tx: Tx, jobs: readonly Subject[]): void => {
  for (const job of jobs) collect(tx, 'Job', job);
};

export const collectPipeline = (tx: Tx, pipeline: Subject): void => collect(tx, 'Pipeline', pipeline);

export const collectDeployment = (tx: Tx, deployment: Subject): void => collect(tx, 'Deployment', deployment);

/** Starts recording the statuses of jobs, pipelines and deployments. */
export const observeStatuses = (store: Store): void =>
  store.observe(statusesTopic, async (tx, items) => {
    const changes = items as Change[];
    const last = new Map(changes.map((change) => [`${change.target_type} ${change.target_id}`, change]));
    await recordStatuses(tx, [...last.values()]);
  });
