/**
 * Gives memory back while nobody asks. V8 collects when its heap fills up, not when it has time: a service would
 * hold for good what one busy minute, or its own start, left behind.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';

/** Milliseconds without a request after which it is time. */
const quietFor = 2_000;

/** Node shows it only to processes that ask for it by a flag. */
const collector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
};

/** Once after the start, and after each time of work. Answers what ends it. */
export const collectAtRest = (app: FastifyInstance): (() => void) => {
  const collect = collector();
  const timer = setTimeout(collect, quietFor).unref();
  app.addHook('onResponse', (_request, _reply, done) => {
    timer.refresh();
    done();
  });
  return () => clearTimeout(timer);
};
