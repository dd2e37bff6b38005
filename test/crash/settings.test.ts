/** On PostgreSQL, a changed setting applies to every process of the service, even after lost connections. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { engine } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Place, type Running, call, newPlace, startTogether } from './process.ts';

describe('a setting changed by one of several processes', { skip: engine !== 'postgres' }, () => {
  let place: Place;
  let running: Running[];
  before(async () => {
    place = newPlace();
    running = await startTogether(place, 3);
  });
  after(async () => await place.remove());

  const change = async (avatar_service_enabled: boolean): Promise<void> => {
    const { status } = await call(running[0]!.url, 'PUT /application/settings', { avatar_service_enabled });
    assert.equal(status, 200);
  };
  const showAvatars = async (): Promise<boolean[]> =>
    await Promise.all(
      running.map(async ({ url }) => (await call(url, 'GET /user')).body.avatar_url !== null),
    );
  const holds = async (shown: boolean): Promise<void> => {
    await until('every process shows the setting', async () =>
      (await showAvatars()).every((one) => one === shown),
    );
    assert.deepEqual(await showAvatars(), [shown, shown, shown]);
  };

  it('a setting changed by one process applies to all processes', async () => {
    await holds(true);
    await change(false);
    assert.equal((await showAvatars())[0], false); // where it was changed, at once
    await holds(false);
  });

  it('applies to processes that missed the notification because their connection was cut', async () => {
    await place.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'gantry listens%' and pid <> pg_backend_pid()`,
    );
    await change(true);
    await holds(true);
    await change(false);
    await holds(false);
  });
});
