import { makeDurations } from './histogram.ts';

export type Metrics = {
  /** Counts one response; durations in milliseconds. */
  observe: (labels: { method: string; route: string; status: number }, total: number, store: number) => void;
  /** Formats all metrics as Prometheus text. */
  text: () => Promise<string>;
  /** Content type of the text. */
  type: string;
};

/** Collects metrics of the process itself, from the first scrape on. */
const watchProcess = async (version: string): Promise<() => Promise<string>> => {
  // A CommonJS package: in the bundle, its names are on `default` only.
  const { Gauge, Registry, collectDefaultMetrics } = (await import('prom-client')).default;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const info = {
    name: 'gantry_info',
    help: 'The running version',
    labelNames: ['version'],
    registers: [registry],
  };
  new Gauge(info).labels(version).set(1);
  return () => registry.metrics();
};

/**
 * Creates the metrics of the service.
 * @param moreText further metrics as Prometheus text, computed at each scrape
 */
export const makeMetrics = (version: string, moreText: () => Promise<string> = async () => ''): Metrics => {
  const requests = makeDurations(
    'gantry_http_request_duration_seconds',
    'Requests and their duration, by route template',
    ['method', 'route', 'status'],
  );
  const store = makeDurations(
    'gantry_store_duration_seconds',
    'Time that requests waited for the store, by route template',
    ['route'],
  );
  let watching: Promise<() => Promise<string>> | undefined;
  return {
    observe: ({ method, route, status }, total, inStore) => {
      requests.observe([method, route, String(status)], total);
      store.observe([route], inStore);
    },
    text: async () => {
      watching ??= watchProcess(version);
      const ofProcess = await (await watching)();
      // The database may be unreachable, which the readiness check reports.
      const more = await moreText().catch(() => '');
      return `${ofProcess}\n${requests.text()}\n${store.text()}\n${more}\n`;
    },
    type: 'text/plain; version=0.0.4; charset=utf-8',
  };
};
