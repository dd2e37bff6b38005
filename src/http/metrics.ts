import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export type Metrics = {
  /** One answered request; durations in milliseconds. */
  observe: (labels: { method: string; route: string; status: number }, total: number, store: number) => void;
  /** Prometheus text. */
  text: () => Promise<string>;
  /** The content type of that text. */
  type: string;
};

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const makeMetrics = (version: string): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({ name: 'gantry_info', help: 'The running version', labelNames: ['version'], registers })
    .labels(version)
    .set(1);
  const requests = new Histogram({
    name: 'gantry_http_request_duration_seconds',
    help: 'Requests and their duration, by route template',
    labelNames: ['method', 'route', 'status'],
    buckets: seconds,
    registers,
  });
  const store = new Histogram({
    name: 'gantry_store_duration_seconds',
    help: 'Time that requests waited for the store, by route template',
    labelNames: ['route'],
    buckets: seconds,
    registers,
  });
  return {
    observe: (labels, total, inStore) => {
      requests.labels(labels.method, labels.route, String(labels.status)).observe(total / 1000);
      store.labels(labels.route).observe(inStore / 1000);
    },
    text: () => registry.metrics(),
    type: registry.contentType,
  };
};
