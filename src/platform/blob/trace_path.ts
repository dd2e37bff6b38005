/** Places of job logs: paths in the data folder, and areas of the bucket. */
import { randomBytes } from 'node:crypto';
import { getProjectArea } from './blob_files.ts';

/** Columns of a job that determine the path of its log. */
export type TraceKey = {
  project_id: number;
  id: number;
  /** Random part of the file name; null: none, as for jobs of earlier versions. */
  trace_key: string | null;
};

/** Generates the key of a new job, so that its log collides with no existing file, not even one of another database. */
export const generateTraceKey = (): string => randomBytes(8).toString('hex');

/** Returns the path of a log below the folder of all logs. */
export const getTracePath = ({ project_id, id, trace_key }: TraceKey): string =>
  trace_key === null ? `${project_id}/${id}.log` : `${project_id}/${id}-${trace_key}.log`;

/** Returns the area of the bucket that has a log which several services share. */
export const getTraceArea = ({ project_id, id }: Omit<TraceKey, 'trace_key'>): string =>
  `${getProjectArea(project_id)}/traces/${id}`;
