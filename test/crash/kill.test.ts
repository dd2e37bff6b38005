/** Repeated kill -9 under load on the same data: no acknowledged write is lost, doubled or partial. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findFaults } from './invariants.ts';
import { makeRandom, newLedger, runLoad, settle } from './ledger.ts';
import { readIssues } from './read_issues.ts';
import { seed, times } from '../support/run/sample.ts';
import { call, engine, newPlace } from './process.ts';

const rounds = times(20, 4);
const writers = 12;

const place = newPlace();
after(async () => await place.remove());

/** Delays of 50 to 2,000 ms, most of them short: shortly after the start. */
const lifeOf = (random: () => number): number => 50 + 1_950 * random() ** 3;

const makeProjects = async (url: string): Promise<number[]> => {
  const projects: number[] = [];
  for (const name of ['one', 'two', 'three', 'four']) {
    const { status, body } = await call(url, 'POST /projects', { name });
    assert.equal(status, 201, JSON.stringify(body));
    projects.push(Number(body.id));
  }
  return projects;
};

it(`loses no acknowledged write over ${rounds} kills (seed ${seed})`, async (test) => {
  const random = makeRandom(seed);
  const ledger = newLedger();
  let running = await place.start();
  const projects = await makeProjects(running.url);
  let slowest = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const load = runLoad({ url: running.url, projects, ledger, random, round }, writers);
    await wait(lifeOf(random));
    running.signal('SIGKILL');
    await Promise.all([running.exit, load]);
    running = await place.start();
    slowest = Math.max(slowest, running.readyAfter);
    assert.deepEqual(ledger.refused, []);
    assert.deepEqual(settle(ledger, await readIssues(place, running.url, projects)), [], `round ${round}`);
    assert.deepEqual(await findFaults(place, engine), [], `round ${round}`);
  }
  test.diagnostic(
    `${rounds} kills, ${ledger.acknowledged} acknowledged writes, none lost; ready again after ${Math.round(slowest)} ms at most`,
  );
  assert.ok(ledger.acknowledged > rounds, 'the load wrote hardly anything');
  assert.ok(slowest < 30_000, `ready after ${slowest} ms`);
});
