/** Counts and times the operations of a request or work outside of the event loop, and notifies observers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TraceContext } from '../tracing/trace_context.ts';

/** Statements and time that one request or piece of work spent in the store. */
export type Meter = {
  statements: number;
  milliseconds: number;
  log?: string[];
  /** Identifies the request or work in log lines. */
  about?: Readonly<Record<string, string>>;
  /** The first project that was loaded for it. */
  project_id?: number;
  /** Names the caller, whom git processes count for (`Client` of gitd). Absent for work of the service itself. */
  client?: () => { name: string; address: string };
  /** null or absent: not traced. */
  trace?: TraceContext | null;
};

/** One statement, call to gitd or outgoing request. Times are of `performance.now()`. */
export type Operation = {
  kind: 'sql' | 'gitd' | 'http';
  /** SQL text without values, method, or host. */
  name: string;
  started: number;
  ended: number;
  isFailed: boolean;
  /** Absent: outside of requests and work. */
  meter: Meter | undefined;
};

type Observer = (operation: Operation) => void;

const current = new AsyncLocalStorage<Meter>();
const observers = new Set<Observer>();

export const runMetered = <T>(meter: Meter, work: () => T): T => current.run(meter, work);

/** Returns the meter of the request or work that runs; undefined: none does. */
export const currentMeter = (): Meter | undefined => current.getStore();

/** Records the project of the request or work, for its log line. */
export const noteProject = (id: number): void => {
  const meter = current.getStore();
  if (meter !== undefined) meter.project_id ??= id;
};

/** Calls the observer after each operation of this process. Returns a function that ends this. */
export const observeOperations = (observer: Observer): (() => void) => {
  observers.add(observer);
  return () => void observers.delete(observer);
};

const report = (operation: Operation): void => {
  for (const observer of observers) observer(operation);
};

/** Counts a statement. Both engines call it after each one; `started` is `performance.now()`. */
export const countStatement = (sql: string, started: number): void => {
  const meter = current.getStore();
  if (meter === undefined && observers.size === 0) return;
  const ended = performance.now();
  if (meter !== undefined) {
    meter.statements += 1;
    meter.milliseconds += ended - started;
    meter.log?.push(sql);
  }
  if (observers.size > 0) report({ kind: 'sql', name: sql, started, ended, isFailed: false, meter });
};

/** Runs an operation and reports it, whatever its outcome. */
export const observed = async <T>(
  { kind, name }: Pick<Operation, 'kind' | 'name'>,
  work: () => Promise<T>,
): Promise<T> => {
  if (observers.size === 0) return await work();
  const meter = current.getStore();
  const started = performance.now();
  let isFailed = true;
  try {
    const result = await work();
    isFailed = false;
    return result;
  } finally {
    report({ kind, name, started, ended: performance.now(), isFailed, meter });
  }
};
