/**
 * Releases memory while the service is idle. V8 collects garbage when its heap fills up, not when it has time, so a
 * service would keep the memory of a busy minute, or of its start, forever.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';

/** Milliseconds since the last response after which garbage is collected. */
const idleTime = 2_000;

/**
 * Minimum growth of resident memory since the last collection, in bytes. A smaller gain is not worth a collection on a
 * service with occasional requests.
 */
const minGrowth = 4 * 1024 * 1024;

type Collector = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** Returns V8's collector. Node exposes it only behind a flag. */
const loadCollector = (): Collector => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
};

/** Collects once after the start and after each busy period. Returns a function that stops it. */
export const collectWhileIdle = (app: FastifyInstance): (() => void) => {
  const collect = loadCollector();
  let rssAfterCollection = 0;
  const collectIfWorthwhile = (): void => {
    const rss = process.memoryUsage.rss();
    if (rss < rssAfterCollection + minGrowth) {
      // Memory may have shrunk since: growth is measured from the lower level.
      rssAfterCollection = Math.min(rssAfterCollection, rss);
      return;
    }
    // Other flavors do not return emptied pages to the system.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    rssAfterCollection = process.memoryUsage.rss();
  };
  const timer = setTimeout(collectIfWorthwhile, idleTime).unref();
  app.addHook('onResponse', (_request, _reply, done) => {
    timer.refresh();
    done();
  });
  return () => clearTimeout(timer);
};
