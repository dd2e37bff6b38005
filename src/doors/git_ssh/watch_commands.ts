/** Records each command over SSH in the log, a metric and a span, as requests over HTTP are. */
import type { Logger } from 'pino';
import { type Meter, runMetered } from '../../platform/db/statement_meter.ts';
import { makeDurations } from '../../platform/http/monitoring/histogram.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { GitService } from '../../code/repository/refs/transfer_access.ts';

/**
 * `refused`: the client was told why, such as that there is no such project. `aborted`: it left before the end.
 */
export type Outcome = 'ok' | 'refused' | 'aborted' | 'failed';

/** Facts of a command, which are completed while it runs. */
export type CommandFacts = {
  /** null: not a command of git. */
  service: GitService | null;
  path?: string;
  user_id?: number;
  project_id?: number;
};

type Client = { keyId: number; ip: string };

export type CommandWatch = {
  /** Runs a command, and records it when it has ended. */
  run: (client: Client, work: (facts: CommandFacts) => Promise<Outcome>) => Promise<void>;
  /** Formats metrics as Prometheus text. */
  text: () => string;
};

type Parts = { log: Logger; random: (bytes: number) => Buffer; tracer: Tracer | null };

type Ended = { facts: CommandFacts; meter: Meter; started: number; ended: number; outcome: Outcome };

const maxShownPath = 500;

const addSpan = (tracer: Tracer, { facts, meter, started, ended, outcome }: Ended): void => {
  const { trace = null, statements } = meter;
  if (trace?.isSampled !== true) return;
  const { service, path, project_id } = facts;
  tracer.add({
    context: trace,
    name: `SSH ${service ?? 'unknown'}`,
    kind: 'server',
    started,
    ended,
    isFailed: outcome === 'failed',
    attributes: {
      'rpc.system': 'ssh',
      'rpc.method': service ?? 'unknown',
      ...(path !== undefined && { 'url.path': path.slice(0, maxShownPath) }),
      'gantry.outcome': outcome,
      'gantry.statements': statements,
      ...(project_id !== undefined && { 'gantry.project_id': project_id }),
    },
  });
};

const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;

const toLine = ({ keyId, ip }: Client, { facts, meter, started, ended, outcome }: Ended): object => ({
  ...meter.about,
  method: 'SSH',
  route: facts.service ?? 'unknown',
  ...(facts.path !== undefined && { path: facts.path.slice(0, maxShownPath) }),
  outcome,
  exit_code: outcome === 'ok' ? 0 : 1,
  ms: round(ended - started),
  store_ms: round(meter.milliseconds),
  statements: meter.statements,
  user_id: facts.user_id ?? null,
  key_id: keyId,
  ...(facts.project_id !== undefined && { project_id: facts.project_id }),
  ...(meter.trace && { trace_id: meter.trace.trace_id }),
  ip,
});

export const watchCommands = ({ log, random, tracer }: Parts): CommandWatch => {
  const durations = makeDurations(
    'gantry_ssh_command_duration_seconds',
    'Commands of git over SSH and their duration until the client has everything',
    ['service', 'outcome'],
  );
  const lines = log.child({}, { redact: [] });
  return {
    run: async (client, work) => {
      const meter: Meter = {
        statements: 0,
        milliseconds: 0,
        about: { request_id: random(16).toString('hex') },
        trace: tracer?.enter() ?? null,
      };
      const facts: CommandFacts = { service: null };
      const started = performance.now();
      let outcome: Outcome = 'failed';
      try {
        outcome = await runMetered(meter, async () => await work(facts));
      } finally {
        const end: Ended = { facts, meter, started, ended: performance.now(), outcome };
        durations.observe([facts.service ?? 'unknown', outcome], end.ended - started);
        if (tracer !== null) addSpan(tracer, end);
        lines.info(toLine(client, end), 'request');
      }
    },
    text: () => durations.text(),
  };
};
