/**
 * Releases memory while the service is idle. V8 collects garbage when its heap fills up, not when it has time, so a
 * service would keep the memory of a busy minute, or of its start, forever.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';

/** Milliseconds without a request after which garbage is collected. */
const idleTime = 2_000;

/** Bytes that must be collectable. A smaller gain is not worth a collection on a service with occasional requests. */
const minCollectable = 4 * 1024 * 1024;

type Collector = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** Returns V8's collector. Node exposes it only behind a flag. */
const loadCollector = (): Collector => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
};

/** Collects once after the start and after each busy period. Returns a function that stops it. */
export const collectWhileIdle = (app: FastifyInstance): (() => void) => {
  const collect = loadCollector();
  let kept = 0;
  const collectIfWorthwhile = (): void => {
    const held = process.memoryUsage.rss();
    if (held < kept + minCollectable) {
      kept = Math.min(kept, held); // memory released in between counts toward the next collection
      return;
    }
    // Other kinds of collection keep emptied pages.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    kept = process.memoryUsage.rss();
  };
  const timer = setTimeout(collectIfWorthwhile, idleTime).unref();
  app.addHook('onResponse', (_request, _reply, done) => {
    timer.refresh();
    done();
  });
  return () => clearTimeout(timer);
};
