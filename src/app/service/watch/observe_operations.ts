/** Watches statements, calls to gitd and outgoing requests: metrics, the log of slow statements, and spans. */
import type { Logger } from 'pino';
import { type Operation, observeOperations } from '../../../platform/db/statement_meter.ts';
import { type Durations, makeDurations } from '../../../platform/http/monitoring/histogram.ts';
import type { Tracer } from '../../../platform/tracing/tracer.ts';

type Parts = {
  log: Logger;
  /** Milliseconds from which a statement is logged; 0: none is. */
  slowStatement: number;
  tracer: Tracer | null;
};

export type OperationWatch = {
  /** Formats metrics as Prometheus text. */
  text: () => string;
  stop: () => void;
};

const maxStatementLength = 2_000;

/** Without values: they are content of users. */
const logStatement = (log: Logger, { name, started, ended, meter }: Operation): void =>
  log.warn(
    { ...meter?.about, ms: Math.round(ended - started), sql: name.slice(0, maxStatementLength) },
    'slow statement',
  );

const addSpan = (tracer: Tracer, { kind, name, started, ended, isFailed, meter }: Operation): void => {
  const trace = meter?.trace ?? null;
  if (trace?.isSampled !== true) return;
  const attributes: Record<Operation['kind'], Record<string, string>> = {
    sql: { 'db.query.text': name.slice(0, maxStatementLength) },
    gitd: { 'rpc.method': name },
    http: { 'server.address': name },
  };
  tracer.add({
    context: tracer.child(trace),
    name: kind === 'sql' ? (/^\w+/.exec(name)?.[0] ?? 'statement') : `${kind} ${name}`,
    kind: 'client',
    started,
    ended,
    isFailed,
    attributes: attributes[kind],
  });
};

const observeCall = (calls: Durations, { name, started, ended, isFailed }: Operation): void =>
  calls.observe([name, isFailed ? 'failed' : 'ok'], ended - started);

/** Starts watching; statements of all services of the process are seen. */
export const startOperationWatch = ({ log, slowStatement, tracer }: Parts): OperationWatch => {
  const calls = makeDurations(
    'gantry_gitd_call_duration_seconds',
    'Calls to gitd and their duration, by method',
    ['method', 'outcome'],
  );
  let slow = 0;
  const stop = observeOperations((operation) => {
    if (operation.kind === 'gitd') observeCall(calls, operation);
    const isSlow = slowStatement > 0 && operation.ended - operation.started >= slowStatement;
    if (operation.kind === 'sql' && isSlow) {
      slow += 1;
      logStatement(log, operation);
    }
    if (tracer !== null) addSpan(tracer, operation);
  });
  return {
    text: () =>
      `${calls.text()}# HELP gantry_slow_statements_total SQL statements that took at least GANTRY_SLOW_STATEMENT\n` +
      `# TYPE gantry_slow_statements_total counter\ngantry_slow_statements_total ${slow}\n`,
    stop,
  };
};
