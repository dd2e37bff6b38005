/** The image as its Dockerfile describes it: it starts as its user, becomes healthy, serves git and makes backups. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace } from '../cli/gantry.ts';
import { exercisePackages } from '../support/exercise_packages.ts';
import { freePort } from '../support/servers/free_port.ts';
import { type AssembledImage, assembleImage, imageEnv } from './assembled_image.ts';
import { lastStage, restsOf } from './dockerfile.ts';

const lacks = ['bwrap', 'setpriv', 'wget'].find((name) => spawnSync(name, ['--version']).error !== undefined);
const isRoot = process.getuid?.() === 0;
const skip =
  lacks === undefined ? !isRoot && 'only root gives files to another user' : `${lacks} is not installed`;

const revision = 'c0ffee'.repeat(7).slice(0, 40);
const token = 'glpat-of-the-image-0123456789';

describe('the image, assembled', { skip }, () => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-clone-'));
  // Its database is the one that the image uses on PostgreSQL; its folder is not used.
  const place = newPlace();
  let image: AssembledImage;
  let env: Record<string, string>;
  let port = 0;
  before(async () => {
    image = assembleImage(revision);
    port = await freePort();
    const { GANTRY_DATABASE_URL, GANTRY_DATABASE_SCHEMA } = place.env;
    env = {
      GANTRY_LISTEN: `127.0.0.1:${port}`,
      GANTRY_ROOT_TOKEN: token,
      GANTRY_ROOT_PASSWORD: 'password of the image',
      GANTRY_EXTERNAL_URL: 'https://code.example.com',
      GANTRY_TRUSTED_PROXIES: '127.0.0.1',
      GANTRY_BACKUP_TO: '/backups',
      ...(GANTRY_DATABASE_URL !== undefined && { GANTRY_DATABASE_URL }),
      ...(GANTRY_DATABASE_SCHEMA !== undefined && { GANTRY_DATABASE_SCHEMA }),
    };
  });
  after(async () => {
    image.remove();
    await place.remove();
    rmSync(home, { recursive: true, force: true });
  });

  /** The health check of the image, which asks the port of the image: here, one that is free. */
  const isHealthy = async (): Promise<boolean> => {
    const words = image.healthCheck.map((word) => word.replace(':8080/', `:${port}/`));
    assert.notDeepEqual(words, image.healthCheck);
    return (await image.exec(env, words)).code === 0;
  };

  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...words], {
      cwd: home,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  const cloneAndPush = async (url: string): Promise<void> => {
    const made = await fetch(`${url}/api/v4/projects`, {
      method: 'POST',
      headers: { 'private-token': token, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bridge', initialize_with_readme: true }),
    });
    assert.equal(made.status, 201);
    git('clone', '-q', url.replace('://', `://oauth2:${token}@`) + '/root/bridge.git');
    writeFileSync(join(home, 'bridge/plan.txt'), 'Build it.\n');
    git('-C', 'bridge', 'add', '.');
    git('-C', 'bridge', 'commit', '-qm', 'Add a plan');
    git('-C', 'bridge', 'push', '-q');
    const raw = await fetch(`${url}/api/v4/projects/root%2Fbridge/repository/files/plan.txt/raw?ref=main`, {
      headers: { 'private-token': token },
    });
    assert.equal(await raw.text(), 'Build it.\n');
  };

  it('listens at the port that it exposes and whose health it asks for', () => {
    const { GANTRY_LISTEN = '' } = imageEnv();
    const [exposed] = restsOf('EXPOSE', lastStage).flatMap((rest) => rest.split(' '));
    assert.equal(GANTRY_LISTEN, `0.0.0.0:${exposed}`);
    assert.ok(image.healthCheck.some((word) => word.startsWith(`http://127.0.0.1:${exposed}/`)));
  });

  it('the image says its version and commit', async () => {
    const container = image.start(env, ['version']);
    await once(container.child, 'close');
    assert.match(container.output(), new RegExp(revision.slice(0, 11)));
  });

  it('starts as its user, becomes healthy, serves, makes a backup and stops', async () => {
    assert.equal(await isHealthy(), false);
    const { child, output, pid } = image.start(env);
    try {
      while (!(await isHealthy())) {
        assert.equal(child.exitCode, null, output());
        await pause(200);
      }
      const status = readFileSync(`/proc/${await pid()}/status`, 'utf8');
      assert.match(status, /^Uid:\t10001\t10001/m);
      assert.match(status, /^CapEff:\t0+$/m);
      const url = `http://127.0.0.1:${port}`;
      const { GANTRY_ROOT_PASSWORD: password = '', GANTRY_EXTERNAL_URL: origin = '' } = env;
      await exercisePackages({ url, origin, token, password });
      await cloneAndPush(url);
      const backup = await image.exec(env, ['gantry', 'backup', 'create', '--verify', '--json']);
      assert.equal(backup.code, 0, backup.output);
      assert.match(backup.output, /"verified": ?true/);
    } finally {
      process.kill(await pid(), 'SIGTERM');
    }
    const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode];
    assert.equal(code, 0, output());
  });
});
