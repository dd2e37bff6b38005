/**
 * Gives memory back while nobody asks. V8 collects when its heap fills up, not when it has time: a service would
 * hold for good what one busy minute, or its own start, left behind.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';

/** Milliseconds without a request after which it is time. */
const quietFor = 2_000;

/** Bytes. For less it is not worth what a collection takes: who is asked now and then would do little else. */
const worthwhile = 4 * 1024 * 1024;

type Collector = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** Node shows it only to processes that ask for it by a flag. */
const collector = (): Collector => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
};

/** Once after the start, and after each time of work. Answers what ends it. */
export const collectAtRest = (app: FastifyInstance): (() => void) => {
  const collect = collector();
  let kept = 0;
  const rest = (): void => {
    const held = process.memoryUsage.rss();
    if (held < kept + worthwhile) {
      kept = Math.min(kept, held); // some may go by itself: what comes after that is to be given back, too
      return;
    }
    // Any other way V8 holds on to the pages that it has emptied.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    kept = process.memoryUsage.rss();
  };
  const timer = setTimeout(rest, quietFor).unref();
  app.addHook('onResponse', (_request, _reply, done) => {
    timer.refresh();
    done();
  });
  return () => clearTimeout(timer);
};
