/** Checks the authorization matrix of expected.txt against the service. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { endpoints } from '../../src/app/routes.ts';
import { isDrawn } from '../support/run/sample.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Visibility, rows } from './expected.ts';
import { type CellSelection, askAll, selectInProject } from './matrix.ts';
import { recipes } from './recipes/recipes.ts';
import { type Wire, failWith, openWire } from './pipelined_requests.ts';
import { type World, makeGroupPlace, makePlace, makeWorld } from './world.ts';

const declared = endpoints.map(({ method, path }) => `${method} ${path}`);

test('has a row in the table for every endpoint, and an endpoint for every row', () => {
  const tabled = new Set(rows.map(({ endpoint }) => endpoint));
  assert.deepEqual({ without_a_row: declared.filter((one) => !tabled.has(one)) }, { without_a_row: [] });
  assert.deepEqual({ gone: [...tabled].filter((one) => !declared.includes(one)) }, { gone: [] });
});

test('has every row once, and no recipe without a row', () => {
  const names = rows.map(({ name }) => name);
  assert.equal(names.length, new Set(names).size);
  const usable = new Set(names);
  assert.deepEqual(
    Object.keys(recipes).filter((name) => !usable.has(name)),
    [],
  );
});

describe('answers everyone as the table says', () => {
  let gantry: TestService;
  let world: World;
  let wire: Wire;
  // A separate service for each place: the whole store is compared before and after.
  beforeEach(async () => {
    const env = { GANTRY_LOG_LEVEL: 'error', GANTRY_REPOSITORY_STORAGES: 'default,second' };
    gantry = await startTestService(env);
    world = await makeWorld(gantry);
    wire = openWire(gantry.url);
  });
  afterEach(async () => {
    wire.close();
    await gantry.close();
  });

  const check = async (selections: CellSelection[]): Promise<void> => {
    const { cells, wrong } = await askAll(world, wire, selections);
    assert.ok(cells > 0);
    failWith(wrong, cells);
  };

  /** `npm test` asks in one place of two: a world takes longer than its requests. */
  const testPlace = (name: string, work: () => Promise<void>): void => {
    if (isDrawn(name, 2)) test(name, work);
  };

  for (const visibility of ['private', 'internal', 'public'] as Visibility[]) {
    testPlace(`in a ${visibility} project`, async () => {
      const place = await makePlace(world, { visibility, issues: 'enabled' });
      await check([selectInProject(place, ['plain', 'confidential'])]);
    });

    testPlace(`in a ${visibility} project whose issues are for members`, async () => {
      const place = await makePlace(world, { visibility, issues: 'private' });
      await check([selectInProject(place, ['plain', 'confidential'])]);
    });

    testPlace(`in a ${visibility} project without issues`, async () => {
      await check([selectInProject(await makePlace(world, { visibility, issues: 'disabled' }), ['plain'])]);
    });

    testPlace(`in a ${visibility} project whose pipelines are not public`, async () => {
      const place = await makePlace(world, { visibility, issues: 'enabled', closed_builds: true });
      await check([{ place, kinds: ['jobs'], states: [] }]);
    });

    testPlace(`in a ${visibility} group`, async () => {
      await check([{ place: await makeGroupPlace(world, visibility), kinds: ['group'], states: [] }]);
    });
  }

  for (const [code, words] of [
    ['private', 'whose code is for members'],
    ['disabled', 'without code'],
  ] as const) {
    testPlace(`in a public project ${words}`, async () => {
      const place = await makePlace(world, { visibility: 'public', issues: 'enabled', code });
      await check([{ place, kinds: ['code', 'jobs', 'merge request'], states: ['plain'] }]);
    });
  }

  for (const [builds, words] of [
    ['private', 'whose jobs are for members'],
    ['disabled', 'without jobs'],
  ] as const) {
    testPlace(`in a public project ${words}`, async () => {
      const place = await makePlace(world, { visibility: 'public', issues: 'enabled', builds });
      await check([{ place, kinds: ['jobs'], states: [] }]);
    });
  }

  testPlace('in an archived project', async () => {
    const place = await makePlace(world, { visibility: 'public', issues: 'enabled', archived: true });
    await check([selectInProject(place, ['plain', 'confidential'])]);
  });

  testPlace('of an issue or a merge request that was deleted', async () => {
    const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
    await check([{ place, kinds: ['issue', 'merge request'], states: ['deleted'] }]);
  });

  testPlace('where only the issues are switched off', async () => {
    const merge_requests = 'enabled';
    const place = await makePlace(world, { visibility: 'public', issues: 'disabled', merge_requests });
    await check([{ place, kinds: ['issues switched', 'trackers switched'], states: [] }]);
  });

  testPlace('outside of projects and groups', async () => {
    const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
    await check([{ place, kinds: ['instance', 'everybody'], states: [] }]);
  });
});
