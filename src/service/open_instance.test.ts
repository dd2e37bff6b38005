/** Every wrong combination of database, secrets, storage and store of bytes is refused, and changes nothing. */
import assert from 'node:assert/strict';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { type TestS3, startS3 } from '../../test/support/s3.ts';
import { engine } from '../../test/support/service.ts';
import { onServer } from '../../test/support/store.ts';
import { type Config, readConfig } from '../config.ts';
import { appliedMigrations, migrate } from '../db/migrate.ts';
import { migrationTexts } from '../db/migrations/list.ts';
import type { Store } from '../db/open.ts';
import { keepGitd } from '../git/supervise.ts';
import { repositoryPath } from '../git/storages.ts';
import { insertUser } from '../users/create.ts';
import { systemClock } from '../time.ts';
import { prepareFolder } from './data_folder.ts';
import { type Instance, openInstance } from './open_instance.ts';
import { databaseExists, openAnyStore } from './store.ts';

const home = mkdtempSync(join(tmpdir(), 'gantry-instance-'));
const schemas: string[] = [];
after(async () => {
  rmSync(home, { recursive: true });
  for (const schema of schemas) await onServer(`drop schema if exists ${schema} cascade`);
});

const url = process.env['GANTRY_TEST_DATABASE_URL'];

const newSchema = (): Record<string, string> => {
  if (url === undefined) return {};
  const schema = `instance_${randomBytes(8).toString('hex')}`;
  schemas.push(schema);
  return {
    GANTRY_DATABASE_URL: url,
    GANTRY_DATABASE_SCHEMA: schema,
    GANTRY_DATABASE_CONNECTIONS: '2',
  };
};

type Site = { data: string; config: Config };

const siteAt = (data: string, environment: Record<string, string>): Site => {
  prepareFolder(data);
  return { data, config: readConfig({ data }, environment).config };
};

/** A data folder and a database that nobody has used. */
const newSite = (environment: Record<string, string> = {}): Site =>
  siteAt(join(home, randomUUID()), { ...newSchema(), ...environment });

const parts = ({ config }: Site) => ({
  config,
  clock: systemClock,
  onFatal: (error: unknown) => {
    throw error;
  },
});

/** Starts and stops, as far as the data goes. */
const open = async (site: Site, ...adopted: string[]): Promise<Omit<Instance, 'store'>> => {
  const { store, ...instance } = await openInstance({ ...parts(site), adopted: new Set(adopted) });
  await store.close();
  return instance;
};

const inStore = async <T>(site: Site, work: (store: Store) => Promise<T>): Promise<T> => {
  const store = await openAnyStore(parts(site));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

const change = async (site: Site, statement: string): Promise<void> =>
  await inStore(site, async ({ write }) => {
    await write(async ({ db }) => await sql.raw(statement).execute(db));
  });

/** One that was started, and has a user and a project whose repository was written to. */
const used = async (environment: Record<string, string> = {}): Promise<Site & { id: string }> => {
  const site = newSite(environment);
  const { id } = await open(site);
  await addProject(site);
  return { ...site, id };
};

const storageOf = ({ data }: Site): string => join(data, 'repositories/default');
const blobsOf = ({ data }: Site): string => join(data, 'blobs');
const secretsOf = ({ data }: Site): string => join(data, 'secrets.json');

/** What git makes, as far as anybody looks at the start. */
const writeRepository = (site: Site, id: number, repository_path: string | null = null): void => {
  const folder = join(storageOf(site), repositoryPath({ id, repository_path }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
};

const addProject = async (site: Site): Promise<void> => {
  await inStore(site, async ({ write }) => {
    await write(async (tx) => {
      const names = { username: 'root', name: 'Root', email: 'root@example.com' };
      await insertUser(tx, null, { ...names, password_hash: '', admin: 1 });
      await sql`insert into projects (namespace_id, path, full_path, name, visibility, default_branch,
        created_at, updated_at, last_activity_at)
        values (1, 'p', 'root/p', 'p', 'private', 'main', 0, 0, 0)`.execute(tx.db);
    });
  });
  if (site.config.repository_storages[0]?.address === null) writeRepository(site, 1);
};

/** What an earlier version left: no ids, no fingerprints, no markers. */
const asEarlier = async (site: Site): Promise<void> => {
  await change(site, `delete from instance where name = 'id' or name like '%:%'`);
  const { instance: _id, ssh_host_key: _key, ...secrets } = JSON.parse(readFileSync(secretsOf(site), 'utf8'));
  writeFileSync(secretsOf(site), JSON.stringify(secrets));
  for (const folder of [storageOf(site), blobsOf(site)]) rmSync(join(folder, 'gantry-instance'));
};

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^gantry\.sqlite-|^lock/.test(name))
    .map((name) => {
      const path = join(folder, name);
      return statSync(path).isFile() ? `${name} ${hash('sha256', readFileSync(path))}` : name;
    });

const rowsIn = async (site: Site): Promise<unknown> => {
  if (!databaseExists(site.config)) return null;
  return await inStore(site, async (store) => {
    const applied = await appliedMigrations(store);
    const { db } = store;
    return applied && [applied, await db.selectFrom('instance').selectAll().orderBy('name').execute()];
  });
};

/** Refused with this in one line, and nothing is changed by that. */
const refused = async (site: Site, line: RegExp): Promise<void> => {
  const before = [await rowsIn(site), filesIn(site.data)];
  await assert.rejects(open(site), (error: Error) => {
    assert.equal(error.name, 'StartFailure');
    assert.match(error.message, line);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
  assert.deepEqual([await rowsIn(site), filesIn(site.data)], before);
};

describe('what goes together', () => {
  test('a first start makes one id, which all that belongs together carries', async () => {
    const site = newSite();
    const { id, secrets } = await open(site);
    assert.match(id, /^[0-9a-f-]{36}$/);
    for (const folder of [storageOf(site), blobsOf(site)])
      assert.equal(readFileSync(join(folder, 'gantry-instance'), 'utf8'), `${id}\n`);
    assert.equal(JSON.parse(readFileSync(secretsOf(site), 'utf8')).instance, id);
    assert.deepEqual(await open(site), { id, secrets, applied: [] });
  });

  test('an older database beside newer repositories and files is the same instance', async () => {
    const site = await used();
    writeRepository(site, 2);
    await change(site, 'delete from projects');
    assert.equal((await open(site)).id, site.id);
  });

  test('a folder of an earlier version starts, keeps its secrets, and is marked', async () => {
    const site = await used();
    const { secrets } = await open(site);
    await asEarlier(site);
    const opened = await open(site);
    assert.notEqual(opened.id, site.id);
    assert.deepEqual({ ...opened.secrets, ssh_host_key: '' }, { ...secrets, ssh_host_key: '' });
    assert.deepEqual(await open(site), { ...opened, applied: [] });
    for (const folder of [storageOf(site), blobsOf(site)])
      assert.equal(readFileSync(join(folder, 'gantry-instance'), 'utf8'), `${opened.id}\n`);
  });

  test('a first start that died on its way is ended by the next', async () => {
    const site = newSite();
    const { secrets } = await open(site);
    await change(site, `delete from instance where name like 'store:%'`);
    for (const folder of [storageOf(site), blobsOf(site)]) rmSync(folder, { recursive: true });
    assert.deepEqual((await open(site)).secrets, secrets);
    assert.ok(existsSync(join(storageOf(site), 'gantry-instance')));
  });

  test('a secrets file that is not ours to write is read, wherever it lies', async () => {
    const first = await used();
    const shared = join(home, `${randomUUID()}.json`);
    cpSync(secretsOf(first), shared);
    const site = siteAt(first.data, { ...environmentOf(first), GANTRY_SECRETS_FILE: shared });
    rmSync(secretsOf(first));
    assert.equal((await open(site)).id, first.id);
    assert.equal(existsSync(secretsOf(first)), false);
  });
});

const environmentOf = ({ config }: Site): Record<string, string> =>
  config.database_url === null
    ? {}
    : {
        GANTRY_DATABASE_URL: config.database_url,
        GANTRY_DATABASE_SCHEMA: config.database_schema,
        GANTRY_DATABASE_CONNECTIONS: '2',
      };

/** Puts what another instance has in place of what this one has. */
const swap = (site: Site, other: Site, at: (site: Site) => string): void => {
  rmSync(at(site), { recursive: true });
  cpSync(at(other), at(site), { recursive: true });
};

const empty = (folder: string): void => {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
};

type Wrong = [
  how: string,
  make: (site: Site, other: Site) => Promise<void> | void,
  line: RegExp,
  part: string,
];

const wrong: Wrong[] = [
  [
    'secrets are missing',
    (site) => rmSync(secretsOf(site)),
    /secrets\.json is missing .*restore it.*gantry adopt secrets/,
    'secrets',
  ],
  [
    'secrets are of another instance',
    (site, other) => swap(site, other, secretsOf),
    /secrets\.json belongs to the instance .*, but the database to .*--data/,
    'secrets',
  ],
  [
    'secrets are others, without an id',
    (site, other) => {
      const { instance: _id, ...secrets } = JSON.parse(readFileSync(secretsOf(other), 'utf8'));
      writeFileSync(secretsOf(site), JSON.stringify(secrets));
    },
    /secrets\.json is not the one of this database .*copy the file from where/,
    'secrets',
  ],
  [
    'the storage is missing',
    (site) => rmSync(dirname(storageOf(site)), { recursive: true }),
    /storage "default" \(\S+\) is missing, .*mount or restore/,
    'storage:default',
  ],
  [
    'the storage is empty',
    (site) => empty(storageOf(site)),
    /storage "default" .* is missing/,
    'storage:default',
  ],
  [
    'the storage is of another instance',
    (site, other) => swap(site, other, storageOf),
    /storage "default" .* belongs to the instance /,
    'storage:default',
  ],
  [
    'the storage is of an earlier version',
    (site) => rmSync(join(storageOf(site), 'gantry-instance')),
    /storage "default" .* is missing/,
    'storage:default',
  ],
  [
    'the bytes are missing',
    (site) => rmSync(blobsOf(site), { recursive: true }),
    /artifacts and uploads \(\S+\) is missing/,
    'blobs',
  ],
  ['the bytes are gone', (site) => empty(blobsOf(site)), /artifacts and uploads \(\S+\) is missing/, 'blobs'],
  [
    'the bytes are of another instance',
    (site, other) => swap(site, other, blobsOf),
    /artifacts and uploads .* belongs to the instance/,
    'blobs',
  ],
];

describe('what does not', () => {
  let other: Site;
  before(async () => void (other = await used()));

  for (const [how, make, line, part] of wrong) {
    test(`${how}: refused, unless it is adopted`, async () => {
      const site = await used();
      await make(site, other);
      await refused(site, line);
      assert.equal((await open(site, part)).id, site.id);
      assert.equal((await open(site)).id, site.id);
    });
  }

  test('an empty database beside a folder in use', async () => {
    const { data } = await used();
    for (const name of ['gantry.sqlite', 'gantry.sqlite-wal', 'gantry.sqlite-shm'])
      rmSync(join(data, name), { force: true });
    const site = siteAt(data, newSchema());
    await refused(site, /secrets\.json belongs to the instance .*, but the database is empty/);
    if (engine === 'sqlite') assert.equal(existsSync(join(data, 'gantry.sqlite')), false);
    rmSync(secretsOf(site));
    await refused(site, /storage "default" .* belongs to the instance .*this database knows nothing of/);
    rmSync(join(storageOf(site), 'gantry-instance'));
    await refused(site, /storage "default" .* is in use, but not by this database/);
    rmSync(storageOf(site), { recursive: true });
    await refused(site, /artifacts and uploads .* belongs to the instance/);
  });

  test('a database of another instance beside a folder in use', { skip: engine === 'sqlite' }, async () => {
    const { data } = await used();
    const site = siteAt(data, environmentOf(other));
    await refused(site, /secrets\.json belongs to the instance/);
  });

  test('a second service with a folder of its own', { skip: engine === 'sqlite' }, async () => {
    const first = await used();
    const second = siteAt(join(home, randomUUID()), environmentOf(first));
    await refused(second, /secrets\.json is missing .*copy it from where/);
    cpSync(secretsOf(first), secretsOf(second));
    await refused(second, /storage "default" .* is missing, .*"gantry gitd"/);
    mkdirSync(dirname(storageOf(second)));
    cpSync(storageOf(first), storageOf(second), { recursive: true });
    await refused(second, /artifacts and uploads .* is missing/);
  });
});

describe('a folder of an earlier version', () => {
  test('whose storage is not there, or has nothing that the database knows', async () => {
    const site = await used();
    await asEarlier(site);
    const folder = storageOf(site);
    renameSync(folder, `${folder}.away`);
    await refused(site, /storage "default" .* is missing/);
    mkdirSync(folder);
    await refused(site, /storage "default" .* is missing/);
    writeRepository(site, 77);
    await refused(site, /storage "default" .* holds nothing of what the database knows/);
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.away`, folder);
    await open(site);
  });

  test('whose bytes are not there', async () => {
    const site = await used();
    await asEarlier(site);
    await change(
      site,
      `insert into uploads (project_id, secret, file_name, size, sha256, created_at) values (1, 's', 'f', 1, 'a', 0)`,
    );
    await refused(site, /artifacts and uploads .* is missing/);
    mkdirSync(join(blobsOf(site), 'projects/1/aa'), { recursive: true });
    writeFileSync(join(blobsOf(site), 'projects/1/aa/aa'), 'a');
    await open(site);
  });

  test('beside which an empty database was put', async () => {
    const before = await used();
    await asEarlier(before);
    for (const name of ['gantry.sqlite', 'gantry.sqlite-wal', 'gantry.sqlite-shm'])
      rmSync(join(before.data, name), { force: true });
    const site = siteAt(before.data, newSchema());
    await refused(site, /storage "default" .* is in use, but not by this database/);
  });

  test('a refused start migrates nothing', async () => {
    const site = newSite();
    await inStore(site, async (store) => {
      await migrate(
        store,
        migrationTexts.filter(({ name }) => name < '0010'),
      );
      await store.write(async (tx) => {
        await sql`insert into users (username, name, email, state, admin, external, can_create_group, search_text,
          created_at, updated_at) values ('root', 'Root', 'root@example.com', 'active', 1, 0, 1, '', 0, 0)`.execute(
          tx.db,
        );
      });
    });
    await refused(site, /secrets\.json is missing/);
    const applied = await inStore(site, appliedMigrations);
    assert.ok(applied !== null && !applied.includes('0029_repository_places'));
  });
});

/** Those that start at once: what each has come to. */
const startAll = async (sites: Site[]) => {
  const all = await Promise.allSettled(sites.map(async (site) => await open(site)));
  return {
    started: all.filter((one) => one.status === 'fulfilled').map(({ value }) => value),
    reasons: all.filter((one) => one.status === 'rejected').map(({ reason }) => (reason as Error).message),
  };
};

describe('services that start together on an empty database', { skip: engine === 'sqlite' }, () => {
  test('with secrets of their own: one does, and the other leaves none behind', async () => {
    const database = newSchema();
    const sites = [1, 2].map(() => siteAt(join(home, randomUUID()), database));
    const { started, reasons } = await startAll(sites);
    assert.equal(started.length, 1, reasons.join('\n'));
    assert.match(reasons.join('\n'), /secrets\.json is (?:not the one of this database|missing)/);
    assert.equal(sites.filter((site) => existsSync(secretsOf(site))).length, 1);
  });

  test('with all in common: all do, with the same secrets and id', async () => {
    const [s3, gitd] = [await startS3(), await startGitd()];
    const database = {
      ...newSchema(),
      ...s3.environment,
      ...gitd.environment,
      GANTRY_SECRETS_FILE: join(home, `${randomUUID()}.json`),
    };
    const sites = [1, 2, 3].map(() => siteAt(join(home, randomUUID()), database));
    const { started, reasons } = await startAll(sites);
    assert.deepEqual(reasons, []);
    const [first] = started;
    for (const { id, secrets } of started) assert.deepEqual([id, secrets], [first?.id, first?.secrets]);
    await gitd.stop();
    await s3.close();
  });
});

const startGitd = async () => {
  const secret = 's'.repeat(32);
  const root = join(home, randomUUID());
  const keeper = keepGitd(
    { root, listen: { host: '127.0.0.1', port: 0 }, secret, onLine: () => undefined },
    () => randomBytes(6).toString('hex'),
  );
  const { address } = await keeper.place();
  const { port } = address as { port: number };
  const environment = {
    GANTRY_REPOSITORY_STORAGES: `default=tcp://127.0.0.1:${port}`,
    GANTRY_GITD_SECRET: secret,
  };
  return { root, environment, stop: keeper.stop };
};

test('a storage elsewhere: marked, compared, and waited for where it is away', async () => {
  const gitd = await startGitd();
  const site = newSite(gitd.environment);
  const { id } = await open(site);
  assert.equal(readFileSync(join(gitd.root, 'gantry-instance'), 'utf8'), `${id}\n`);
  await open(site);
  await refused(newSite(gitd.environment), /storage "default" \(tcp:\S+\) belongs to the instance/);
  renameSync(gitd.root, `${gitd.root}.away`);
  await refused(site, /storage "default" .* is missing, .*gantry gitd/);
  renameSync(`${gitd.root}.away`, gitd.root);
  await gitd.stop();
  await open(site);
  await refused(newSite(gitd.environment), /does not answer .*, and was never used by this database/);
});

describe('a bucket', () => {
  let s3: TestS3;
  before(async () => void (s3 = await startS3()));
  after(async () => await s3.close());

  test('is marked, compared, and waited for where it is away', async () => {
    const site = newSite(s3.environment);
    const { id } = await open(site);
    assert.ok(s3.keys().includes('gantry-instance'));
    assert.equal((await open(site)).id, id);
    await refused(
      newSite(s3.environment),
      /artifacts and uploads \(the bucket \S+ at \S+\) belongs to the instance/,
    );
    await refused(
      newSite({ ...s3.environment, GANTRY_BLOB_S3_BUCKET: 'another-bucket' }),
      /does not answer .*, and was never used by this database/,
    );
    // It was in the folder: its bytes were not brought along.
    const moved = await used();
    await refused(
      siteAt(moved.data, { ...environmentOf(moved), ...s3.environment }),
      /artifacts and uploads .* belongs to the instance/,
    );
    await s3.stop();
    assert.equal((await open(site)).id, id);
    await s3.start();
  });
});
