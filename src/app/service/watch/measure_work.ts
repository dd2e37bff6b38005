/** Wraps background work handlers: a duration histogram by kind and outcome, and a trace span with the statement count. */
import { type Meter, runMetered } from '../../../platform/db/statement_meter.ts';
import { makeDurations } from '../../../platform/http/monitoring/histogram.ts';
import type { WorkHandler } from '../../../platform/queue/enqueue.ts';
import type { Tracer } from '../../../platform/tracing/tracer.ts';

type Handlers = { [name: string]: WorkHandler };

export type WorkMetrics = {
  /** Wraps the handlers so that their runs are measured. */
  wrap: (handlers: Handlers) => Handlers;
  /** Formats metrics as Prometheus text. */
  text: () => string;
};

type Run = { name: string; meter: Meter; started: number; isFailed: boolean };

const addSpan = (tracer: Tracer, { name, meter, started, isFailed }: Run): void => {
  const { trace = null, statements, project_id } = meter;
  if (trace?.isSampled !== true) return;
  tracer.add({
    context: trace,
    name: `work ${name}`,
    kind: 'internal',
    started,
    ended: performance.now(),
    isFailed,
    attributes: {
      'gantry.work': name,
      'gantry.statements': statements,
      ...(project_id !== undefined && { 'gantry.project_id': project_id }),
    },
  });
};

export const makeWorkMetrics = (tracer: Tracer | null): WorkMetrics => {
  const runs = makeDurations(
    'gantry_work_duration_seconds',
    'Runs of background work and their duration, by kind',
    ['kind', 'outcome'],
  );
  const wrapHandler =
    (name: string, handler: WorkHandler): WorkHandler =>
    async (payload, workRun) => {
      const meter: Meter = {
        statements: 0,
        milliseconds: 0,
        about: { work: name },
        trace: tracer?.enter(workRun.traceparent) ?? null,
      };
      const run: Run = { name, meter, started: performance.now(), isFailed: true };
      try {
        await runMetered(meter, async () => await handler(payload, workRun));
        run.isFailed = false;
      } finally {
        runs.observe([name, run.isFailed ? 'failed' : 'ok'], performance.now() - run.started);
        if (tracer !== null) addSpan(tracer, run);
      }
    };
  return {
    wrap: (handlers) =>
      Object.fromEntries(
        Object.entries(handlers).map(([name, handler]) => [name, wrapHandler(name, handler)]),
      ),
    text: () => runs.text(),
  };
};
