import { makeDurations } from './durations.ts';

export type Metrics = {
  /** One answered request; durations in milliseconds. */
  observe: (labels: { method: string; route: string; status: number }, total: number, store: number) => void;
  /** Prometheus text. */
  text: () => Promise<string>;
  /** The content type of that text. */
  type: string;
};

/** What is told of the process itself; watched from the first time that somebody asks. */
const watchProcess = async (version: string): Promise<() => Promise<string>> => {
  // CommonJS: the bundle gives it no names but this one.
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

/** @param moreText further figures in Prometheus text, at each look */
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
      // The database may be away, of which readiness tells.
      const more = await moreText().catch(() => '');
      return `${ofProcess}\n${requests.text()}\n${store.text()}\n${more}\n`;
    },
    type: 'text/plain; version=0.0.4; charset=utf-8',
  };
};
