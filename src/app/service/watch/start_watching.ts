/** Starts the monitoring of the service: metrics, traces, the log of slow statements and health judgements. */
import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { type CommandWatch, watchCommands } from '../../../doors/git_ssh/watch_commands.ts';
import { judgeHealth, type HealthReport } from '../../../doors/instance/health/judge_health.ts';
import { readHealth } from '../../../doors/instance/health/read_health.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import type { WorkHandler } from '../../../platform/queue/enqueue.ts';
import type { Lane } from '../../../platform/queue/lanes.ts';
import { formatWorkMetrics } from '../../../platform/queue/metrics.ts';
import type { Tracer } from '../../../platform/tracing/tracer.ts';
import { version } from '../../../platform/version.ts';
import { formatHealthMetrics } from './format_health_metrics.ts';
import { startOperationWatch } from './observe_operations.ts';
import { makeWorkMetrics } from './measure_work.ts';

type Parts = { config: Config; log: Logger; random: (bytes: number) => Buffer };

export type Watching = {
  tracer: Tracer | null;
  /** Wraps the handlers of background work so that it is measured. */
  measureWork: (handlers: { [name: string]: WorkHandler }) => { [name: string]: WorkHandler };
  /** Logs, measures and traces commands over SSH. */
  commands: CommandWatch;
  /** Formats all metrics but those of the process and of requests. */
  metricsText: (platform: Platform, kinds: readonly string[], lanes: readonly Lane[]) => Promise<string>;
  judge: (platform: Platform) => Promise<HealthReport>;
  stop: () => Promise<void>;
};

/** Starts the tracer if a collector is configured. Its module is loaded only then. */
const startConfiguredTracer = async ({ config, log, random }: Parts): Promise<Tracer | null> => {
  if (config.trace_endpoint === null) return null;
  const { startTracer } = await import('../../../platform/tracing/tracer.ts');
  return startTracer({
    endpoint: config.trace_endpoint,
    headers: config.trace_headers,
    service: config.trace_service,
    version,
    instance: random(8).toString('hex'),
    ratio: config.trace_ratio,
    random,
    onFailure: (err) => log.warn({ err }, 'sending spans to the trace collector failed'),
  });
};

/** Returns the bytes of SQLite's write-ahead log; null: PostgreSQL. */
const readWalSize = ({ file }: Store): number | null =>
  file === null ? null : (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);

export const startWatching = async (parts: Parts): Promise<Watching> => {
  const { config, log } = parts;
  const tracer = await startConfiguredTracer(parts);
  const operations = startOperationWatch({ log, slowStatement: config.slow_statement, tracer });
  const work = makeWorkMetrics(tracer);
  const commands = watchCommands({ ...parts, tracer });
  return {
    tracer,
    measureWork: work.wrap,
    commands,
    metricsText: async (platform, kinds, lanes) => {
      const { store, clock } = platform;
      // If the database does not answer, operators need the other metrics even more.
      const [queue, health] = await Promise.all([
        formatWorkMetrics({ db: store.db, now: clock.now(), kinds, lanes }).catch(() => ''),
        readHealth(platform),
      ]);
      const gauges = formatHealthMetrics({
        health,
        wal: readWalSize(store),
        connections: store.countConnections?.() ?? null,
        traces: tracer?.counts() ?? null,
      });
      return [queue, gauges, operations.text(), work.text(), commands.text()].join('\n');
    },
    judge: async (platform) => judgeHealth(await readHealth(platform), platform.clock.now()),
    stop: async () => {
      operations.stop();
      await tracer?.stop();
    },
  };
};
