import { AsyncLocalStorage } from 'node:async_hooks';

/** Statements and time that one request or piece of work spent in the store. */
export type Meter = { statements: number; milliseconds: number; log?: string[] };

const current = new AsyncLocalStorage<Meter>();

export const runMetered = <T>(meter: Meter, work: () => T): T => current.run(meter, work);

/** Counts a statement. Both engines call it after each one; `started` is `performance.now()`. */
export const countStatement = (sql: string, started: number): void => {
  const meter = current.getStore();
  if (meter === undefined) return;
  meter.statements += 1;
  meter.milliseconds += performance.now() - started;
  meter.log?.push(sql);
};
