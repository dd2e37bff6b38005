/** Every mismatch of database, secrets, storages and blob store is refused without changes. */
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
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { type TestS3, startS3 } from '../../../test/support/servers/s3.ts';
import { engine } from '../../../test/support/service.ts';
import { onServer } from '../../../test/support/databases/store.ts';
import { sample } from '../../../test/support/run/sample.ts';
import type { Config } from '../../platform/config/fields.ts';
import { openBucket } from '../../platform/blob/s3_client.ts';
import { readConfig } from '../../platform/config/read_config.ts';
import { appliedMigrations, migrate } from '../../platform/db/migrate.ts';
import { migrationTexts } from '../../platform/db/migrations/list.ts';
import type { Store } from '../../platform/db/open.ts';
import { superviseGitd } from '../../platform/git/supervise_gitd.ts';
import { getRepositoryPath } from '../../platform/git/storages.ts';
import { insertUser } from '../../identity/users/create.ts';
import { systemClock } from '../../platform/time.ts';
import { prepareFolder } from './data_folder.ts';
import { type Instance, openInstance } from './open_instance.ts';
import { databaseExists, openAnyStore } from './open_database.ts';

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

/** A new data folder and an empty database. */
const newSite = (environment: Record<string, string> = {}): Site =>
  siteAt(join(home, randomUUID()), { ...newSchema(), ...environment });

const parts = ({ config }: Site) => ({
  config,
  clock: systemClock,
  onFatal: (error: unknown) => {
    throw error;
  },
});

/** Opens and closes the instance, as a start and a stop do. */
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

/** A site that was started and has a user and a project with a written repository. */
const newUsedSite = async (environment: Record<string, string> = {}): Promise<Site & { id: string }> => {
  const site = newSite(environment);
  const { id } = await open(site);
  await addProject(site);
  return { ...site, id };
};

const storagePath = ({ data }: Site): string => join(data, 'repositories/default');
const blobsPath = ({ data }: Site): string => join(data, 'blobs');
const secretsFilePath = ({ data }: Site): string => join(data, 'secrets.json');

/** Writes the files of a repository that the start checks. */
const writeRepository = (site: Site, id: number, repository_path: string | null = null): void => {
  const folder = join(storagePath(site), getRepositoryPath({ id, repository_path }));
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

const readSecretsFile = (site: Site): Record<string, string> =>
  JSON.parse(readFileSync(secretsFilePath(site), 'utf8'));

const removeSecrets = (site: Site, ...names: string[]): void => {
  const kept = Object.entries(readSecretsFile(site)).filter(([name]) => !names.includes(name));
  writeFileSync(secretsFilePath(site), JSON.stringify(Object.fromEntries(kept)));
};

/** Turns a database into one of an earlier version: no ids or fingerprints. */
const makeEarlierDatabase = async (site: Site): Promise<void> =>
  await change(site, `delete from instance where name = 'id' or name like '%:%'`);

/** Turns a site into one of an earlier version: no ids, fingerprints or markers. */
const makeEarlierVersion = async (site: Site): Promise<void> => {
  await makeEarlierDatabase(site);
  removeSecrets(site, 'instance', 'registry_key', 'ssh_host_key');
  for (const folder of [storagePath(site), blobsPath(site)]) rmSync(join(folder, 'gantry-instance'));
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

/** Asserts that opening the site is refused with this message and changes nothing. */
const assertRefused = async (site: Site, line: RegExp): Promise<void> => {
  const before = [await rowsIn(site), filesIn(site.data)];
  await assert.rejects(open(site), (error: Error) => {
    assert.equal(error.name, 'StartFailure');
    assert.match(error.message, line);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
  assert.deepEqual([await rowsIn(site), filesIn(site.data)], before);
};

describe('a matching set', () => {
  test('a first start creates one id and marks every part with it', async () => {
    const site = newSite();
    const { id, secrets } = await open(site);
    assert.match(id, /^[0-9a-f-]{36}$/);
    for (const folder of [storagePath(site), blobsPath(site)])
      assert.equal(readFileSync(join(folder, 'gantry-instance'), 'utf8'), `${id}\n`);
    assert.equal(JSON.parse(readFileSync(secretsFilePath(site), 'utf8')).instance, id);
    assert.deepEqual(await open(site), { id, secrets, applied: [] });
  });

  test('an older database with newer repositories and files is the same instance', async () => {
    const site = await newUsedSite();
    writeRepository(site, 2);
    await change(site, 'delete from projects');
    assert.equal((await open(site)).id, site.id);
  });

  test('a folder of an earlier version starts, keeps its secrets, and is marked', async () => {
    const site = await newUsedSite();
    const { secrets } = await open(site);
    await makeEarlierVersion(site);
    const opened = await open(site);
    assert.notEqual(opened.id, site.id);
    const { session_key, encryption_key } = secrets;
    assert.deepEqual({ ...opened.secrets, session_key, encryption_key }, opened.secrets);
    assert.deepEqual(await open(site), { ...opened, applied: [] });
    for (const folder of [storagePath(site), blobsPath(site)])
      assert.equal(readFileSync(join(folder, 'gantry-instance'), 'utf8'), `${opened.id}\n`);
  });

  test('an SSH host key in the separate file of earlier versions is the recorded one', async () => {
    const site = await newUsedSite();
    const { secrets } = await open(site);
    removeSecrets(site, 'ssh_host_key');
    writeFileSync(join(site.data, 'ssh_host_ed25519_key'), secrets.ssh_host_key);
    assert.deepEqual((await open(site)).secrets, secrets);
    assert.equal(readSecretsFile(site)['ssh_host_key'], secrets.ssh_host_key);
  });

  test('an upgrade that cannot write its secrets is completed by the next start', async () => {
    const site = await newUsedSite();
    await makeEarlierVersion(site);
    mkdirSync(`${secretsFilePath(site)}.new`);
    await assertRefused(site, /secrets\.json cannot be written/);
    rmdirSync(`${secretsFilePath(site)}.new`);
    const opened = await open(site);
    assert.deepEqual(await open(site), { ...opened, applied: [] });
  });

  test('an interrupted first start is completed by the next', async () => {
    const site = newSite();
    const { secrets } = await open(site);
    await change(site, `delete from instance where name like 'store:%'`);
    for (const folder of [storagePath(site), blobsPath(site)]) rmSync(folder, { recursive: true });
    assert.deepEqual((await open(site)).secrets, secrets);
    assert.ok(existsSync(join(storagePath(site), 'gantry-instance')));
  });

  test('a read-only secrets file is read from any place', async () => {
    const first = await newUsedSite();
    const shared = join(home, `${randomUUID()}.json`);
    cpSync(secretsFilePath(first), shared);
    const site = siteAt(first.data, { ...toEnvironment(first), GANTRY_SECRETS_FILE: shared });
    rmSync(secretsFilePath(first));
    assert.equal((await open(site)).id, first.id);
    assert.equal(existsSync(secretsFilePath(first)), false);
  });
});

const toEnvironment = ({ config }: Site): Record<string, string> =>
  config.database_url === null
    ? {}
    : {
        GANTRY_DATABASE_URL: config.database_url,
        GANTRY_DATABASE_SCHEMA: config.database_schema,
        GANTRY_DATABASE_CONNECTIONS: '2',
      };

/** Replaces a part of this instance with the part of another. */
const swap = (site: Site, other: Site, at: (site: Site) => string): void => {
  rmSync(at(site), { recursive: true });
  cpSync(at(other), at(site), { recursive: true });
};

const empty = (folder: string): void => {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
};

type Mismatch = [
  how: string,
  make: (site: Site, other: Site) => Promise<void> | void,
  line: RegExp,
  part: string,
];

const mismatches: Mismatch[] = [
  [
    'secrets are missing',
    (site) => rmSync(secretsFilePath(site)),
    /secrets\.json is missing .*restore it.*gantry adopt secrets/,
    'secrets',
  ],
  [
    'secrets are of another instance',
    (site, other) => swap(site, other, secretsFilePath),
    /secrets\.json belongs to the instance .*, but the database to .*--data/,
    'secrets',
  ],
  [
    'secrets are others, without an id',
    (site, other) => {
      swap(site, other, secretsFilePath);
      removeSecrets(site, 'instance');
    },
    /secrets\.json does not belong to this database .*copy the file from where/,
    'secrets',
  ],
  [
    'secrets are of an earlier version',
    (site) => removeSecrets(site, 'instance', 'registry_key', 'ssh_host_key'),
    /secrets\.json does not belong to this database \(its registry_key is missing\): copy the file from where/,
    'secrets',
  ],
  [
    'a key is missing',
    (site) => removeSecrets(site, 'ssh_host_key'),
    /secrets\.json does not belong to this database \(its ssh_host_key is missing\): copy the file from where/,
    'secrets',
  ],
  [
    'the storage is missing',
    (site) => rmSync(dirname(storagePath(site)), { recursive: true }),
    /storage "default" \(\S+\) is missing, .*mount or restore/,
    'storage:default',
  ],
  [
    'the storage is empty',
    (site) => empty(storagePath(site)),
    /storage "default" .* is missing/,
    'storage:default',
  ],
  [
    'the storage is of another instance',
    (site, other) => swap(site, other, storagePath),
    /storage "default" .* belongs to the instance /,
    'storage:default',
  ],
  [
    'the storage is of an earlier version',
    (site) => rmSync(join(storagePath(site), 'gantry-instance')),
    /storage "default" .* is missing/,
    'storage:default',
  ],
  [
    'the bytes are missing',
    (site) => rmSync(blobsPath(site), { recursive: true }),
    /artifacts and uploads \(\S+\) is missing/,
    'blobs',
  ],
  [
    'the bytes are gone',
    (site) => empty(blobsPath(site)),
    /artifacts and uploads \(\S+\) is missing/,
    'blobs',
  ],
  [
    'the bytes are of another instance',
    (site, other) => swap(site, other, blobsPath),
    /artifacts and uploads .* belongs to the instance/,
    'blobs',
  ],
];

describe('a mismatch', () => {
  let other: Site;
  before(async () => void (other = await newUsedSite()));

  // One of each part, and of the rest one in four.
  for (const [how, make, line, part] of sample(
    mismatches,
    4,
    ([how]) => how,
    ([, , , part]) => part,
  )) {
    test(`${how} is refused unless adopted`, async () => {
      const site = await newUsedSite();
      await make(site, other);
      await assertRefused(site, line);
      assert.equal((await open(site, part)).id, site.id);
      assert.equal((await open(site)).id, site.id);
    });
  }

  test('refuses a database of an earlier version with the secrets and stores of another instance', async () => {
    const site = await newUsedSite();
    await makeEarlierDatabase(site);
    for (const part of [secretsFilePath, storagePath, blobsPath]) swap(site, other, part);
    await assertRefused(
      site,
      /secrets\.json belongs to the instance .*, but the database is of an earlier version.*gantry adopt secrets/,
    );
    const id = readSecretsFile(other)['instance'];
    assert.equal((await open(site, 'secrets')).id, id);
    assert.equal((await open(site)).id, id);
  });

  test('refuses an empty database with a used folder', async () => {
    const { data } = await newUsedSite();
    for (const name of ['gantry.sqlite', 'gantry.sqlite-wal', 'gantry.sqlite-shm'])
      rmSync(join(data, name), { force: true });
    const site = siteAt(data, newSchema());
    await assertRefused(site, /secrets\.json belongs to the instance .*, but the database is empty/);
    if (engine === 'sqlite') assert.equal(existsSync(join(data, 'gantry.sqlite')), false);
    rmSync(secretsFilePath(site));
    await assertRefused(
      site,
      /storage "default" .* belongs to the instance .*this database knows nothing of/,
    );
    rmSync(join(storagePath(site), 'gantry-instance'));
    await assertRefused(site, /storage "default" .* is in use, but not by this database/);
    rmSync(storagePath(site), { recursive: true });
    await assertRefused(site, /artifacts and uploads .* belongs to the instance/);
  });

  test(
    'refuses a database of another instance with a used folder',
    { skip: engine === 'sqlite' },
    async () => {
      const { data } = await newUsedSite();
      const site = siteAt(data, toEnvironment(other));
      await assertRefused(site, /secrets\.json belongs to the instance/);
    },
  );

  test('refuses the database of another instance in the folder', { skip: engine !== 'sqlite' }, async () => {
    const site = await newUsedSite();
    for (const name of ['gantry.sqlite-wal', 'gantry.sqlite-shm'])
      rmSync(join(site.data, name), { force: true });
    swap(site, other, ({ data }) => join(data, 'gantry.sqlite'));
    await assertRefused(site, /secrets\.json belongs to the instance .*, but the database to /);
  });

  test('refuses a secrets file that is empty or unreadable, and leaves it as it is', async () => {
    const site = await newUsedSite();
    for (const content of ['', '{', '{}', Buffer.from([0xff, 0xfe, 0])]) {
      writeFileSync(secretsFilePath(site), content);
      await assertRefused(site, /secrets\.json cannot be read \(.*\): restore it from a backup/);
    }
    rmSync(secretsFilePath(site));
    mkdirSync(secretsFilePath(site));
    await assertRefused(site, /secrets\.json cannot be read \(.*\): restore it from a backup/);
  });

  test('starts a newer database beside an older storage: what it lacks is missing, and not created', async () => {
    const site = await newUsedSite();
    const older = `${storagePath(site)}.older`;
    cpSync(storagePath(site), older, { recursive: true });
    writeRepository(site, 2);
    await change(
      site,
      `insert into projects (namespace_id, path, full_path, name, visibility, default_branch, repository_written,
        created_at, updated_at, last_activity_at)
        values (1, 'q', 'root/q', 'q', 'private', 'main', 1, 0, 0, 0)`,
    );
    rmSync(storagePath(site), { recursive: true });
    renameSync(older, storagePath(site));
    assert.equal((await open(site)).id, site.id);
    const folder = join(storagePath(site), getRepositoryPath({ id: 2, repository_path: null }));
    assert.equal(existsSync(folder), false);
  });

  test('refuses a second service with a folder of its own', { skip: engine === 'sqlite' }, async () => {
    const first = await newUsedSite();
    const second = siteAt(join(home, randomUUID()), toEnvironment(first));
    await assertRefused(second, /secrets\.json is missing .*copy it from where/);
    cpSync(secretsFilePath(first), secretsFilePath(second));
    await assertRefused(second, /storage "default" .* is missing, .*"gantry gitd"/);
    mkdirSync(dirname(storagePath(second)));
    cpSync(storagePath(first), storagePath(second), { recursive: true });
    await assertRefused(second, /artifacts and uploads .* is missing/);
  });
});

describe('a folder of an earlier version', () => {
  test('is refused if its storage is missing or holds no known repository', async () => {
    const site = await newUsedSite();
    await makeEarlierVersion(site);
    const folder = storagePath(site);
    renameSync(folder, `${folder}.away`);
    await assertRefused(site, /storage "default" .* is missing/);
    mkdirSync(folder);
    await assertRefused(site, /storage "default" .* is missing/);
    writeRepository(site, 77);
    await assertRefused(site, /storage "default" .* contains nothing that the database references/);
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.away`, folder);
    await open(site);
  });

  test('is refused if its files are missing', async () => {
    const site = await newUsedSite();
    await makeEarlierVersion(site);
    await change(
      site,
      `insert into uploads (project_id, secret, file_name, size, sha256, created_at) values (1, 's', 'f', 1, 'a', 0)`,
    );
    await assertRefused(site, /artifacts and uploads .* is missing/);
    mkdirSync(join(blobsPath(site), 'projects/1/aa'), { recursive: true });
    writeFileSync(join(blobsPath(site), 'projects/1/aa/aa'), 'a');
    await open(site);
  });

  test('a data folder of an earlier version is refused with an empty database', async () => {
    const before = await newUsedSite();
    await makeEarlierVersion(before);
    for (const name of ['gantry.sqlite', 'gantry.sqlite-wal', 'gantry.sqlite-shm'])
      rmSync(join(before.data, name), { force: true });
    const site = siteAt(before.data, newSchema());
    await assertRefused(site, /storage "default" .* is in use, but not by this database/);
  });

  test('a refused start does not migrate the data folder', async () => {
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
    await assertRefused(site, /secrets\.json is missing/);
    const applied = await inStore(site, appliedMigrations);
    assert.ok(applied !== null && !applied.includes('0029_repository_places'));
  });
});

/** Starts several services at once and returns the outcome of each. */
const startAll = async (sites: Site[]) => {
  const all = await Promise.allSettled(sites.map(async (site) => await open(site)));
  return {
    started: all.filter((one) => one.status === 'fulfilled').map(({ value }) => value),
    reasons: all.filter((one) => one.status === 'rejected').map(({ reason }) => (reason as Error).message),
  };
};

describe('services that start together on an empty database', { skip: engine === 'sqlite' }, () => {
  test('with different secrets, one starts and the other leaves none behind', async () => {
    const database = newSchema();
    const sites = [1, 2].map(() => siteAt(join(home, randomUUID()), database));
    const { started, reasons } = await startAll(sites);
    assert.equal(started.length, 1, reasons.join('\n'));
    const said = /secrets\.json (?:does not belong to this database|is missing)|the database has used it/;
    assert.match(reasons.join('\n'), said);
    assert.equal(sites.filter((site) => existsSync(secretsFilePath(site))).length, 1);
  });

  test('with the same folder, all start with the same secrets and id', async () => {
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
  const supervisor = superviseGitd(
    { root, listen: { host: '127.0.0.1', port: 0 }, secret, onLine: () => undefined },
    () => randomBytes(6).toString('hex'),
  );
  const { address } = await supervisor.place();
  const { port } = address as { port: number };
  const environment = {
    GANTRY_REPOSITORY_STORAGES: `default=tcp://127.0.0.1:${port}`,
    GANTRY_GITD_SECRET: secret,
  };
  return { root, environment, stop: supervisor.stop };
};

test('a remote storage is marked, compared, and waited for while it is unreachable', async () => {
  const gitd = await startGitd();
  const site = newSite(gitd.environment);
  const { id } = await open(site);
  assert.equal(readFileSync(join(gitd.root, 'gantry-instance'), 'utf8'), `${id}\n`);
  await open(site);
  await assertRefused(newSite(gitd.environment), /storage "default" \(tcp:\S+\) belongs to the instance/);
  renameSync(gitd.root, `${gitd.root}.away`);
  await assertRefused(site, /storage "default" .* is missing, .*gantry gitd/);
  renameSync(`${gitd.root}.away`, gitd.root);
  await gitd.stop();
  await open(site);
  await assertRefused(newSite(gitd.environment), /does not answer .*, and was never used by this database/);
});

describe('a bucket', () => {
  let s3: TestS3;
  before(async () => void (s3 = await startS3()));
  after(async () => await s3.close());

  test('is marked, compared, and waited for while it is unreachable', async () => {
    const site = newSite(s3.environment);
    const { id } = await open(site);
    assert.ok(s3.keys().includes('gantry-instance'));
    assert.equal((await open(site)).id, id);
    await assertRefused(
      newSite(s3.environment),
      /artifacts and uploads \(the bucket \S+ at \S+\) belongs to the instance/,
    );
    await assertRefused(
      newSite({ ...s3.environment, GANTRY_BLOB_S3_BUCKET: 'another-bucket' }),
      /does not answer .*, and was never used by this database/,
    );
    // The files were in the folder and were not copied to the bucket.
    const moved = await newUsedSite();
    await assertRefused(
      siteAt(moved.data, { ...toEnvironment(moved), ...s3.environment }),
      /artifacts and uploads .* belongs to the instance/,
    );
    await s3.stop();
    assert.equal((await open(site)).id, id);
    await s3.start();
  });

  test('stops the start if it is in use and was emptied or deleted', async () => {
    const own = await startS3();
    const site = newSite(own.environment);
    await open(site);
    for (const again of [true, false]) {
      await own.deleteBucket(again);
      await assertRefused(
        site,
        /artifacts and uploads \(the bucket \S+ at \S+\) is missing, although the database has used it: check the settings GANTRY_BLOB_S3_/,
      );
    }
    await own.close();
  });

  test('of another instance stops the start of a site that used a bucket', async () => {
    const [one, two] = [await startS3(), await startS3()];
    const [site, other] = [newSite(one.environment), newSite(two.environment)];
    await open(site);
    await open(other);
    const pointed = siteAt(site.data, { ...toEnvironment(site), ...two.environment });
    await assertRefused(pointed, /artifacts and uploads \(the bucket .* belongs to the instance/);
    assert.deepEqual([one.keys(), two.keys()], [['gantry-instance'], ['gantry-instance']]);
    await one.close();
    await two.close();
  });
});

/** Stores bytes in a bucket as a service does. */
const putBytes = async (s3: TestS3, key: string): Promise<void> => {
  const bucket = openBucket(s3.place, () => undefined);
  await bucket.ask({ method: 'PUT', key, body: Buffer.from('bytes') });
};

describe('a bucket of another age', () => {
  let s3: TestS3;
  before(async () => void (s3 = await startS3()));
  after(async () => await s3.close());

  const keys = ['projects/1/aa/aa', 'projects/1/bb/bb'] as const;

  test('starts beside a newer database, which misses what was added since', async () => {
    const site = await newUsedSite(s3.environment);
    await putBytes(s3, keys[0]);
    for (const name of ['aa', 'bb'])
      await change(
        site,
        `insert into uploads (project_id, secret, file_name, size, sha256, created_at)
          values (1, '${name}', 'f', 5, '${name}', 0)`,
      );
    const before = s3.keys();
    assert.equal((await open(site)).id, site.id);
    assert.deepEqual(s3.keys(), before);
  });

  test('starts beside an older database, and keeps what that does not know', async () => {
    await s3.deleteBucket(true);
    const site = await newUsedSite(s3.environment);
    for (const key of keys) await putBytes(s3, key);
    assert.equal((await open(site)).id, site.id);
    assert.deepEqual(s3.keys(), ['gantry-instance', ...keys]);
  });

  test('without a marker is refused by an empty database, and left as it is', async () => {
    await s3.deleteBucket(true);
    await putBytes(s3, keys[0]);
    const site = newSite(s3.environment);
    await assertRefused(
      site,
      /artifacts and uploads \(the bucket .* is in use, but not by this database: check GANTRY_DATABASE_URL/,
    );
    assert.deepEqual(s3.keys(), [keys[0]]);
    await open(site, 'blobs');
    assert.deepEqual(s3.keys(), ['gantry-instance', keys[0]]);
  });
});

describe('services that start together on an older database', { skip: url === undefined }, () => {
  let s3: TestS3;
  before(async () => void (s3 = await startS3()));
  after(async () => await s3.close());

  test('one copies and migrates it, and the others wait', async () => {
    const shared = join(home, randomUUID());
    const environment = {
      ...newSchema(),
      ...s3.environment,
      GANTRY_SECRETS_FILE: `${shared}-secrets.json`,
      GANTRY_REPOSITORY_STORAGES: `default=${shared}-repositories`,
    };
    const sites = Array.from({ length: 3 }, () => siteAt(join(home, randomUUID()), environment));
    const [first] = sites as [Site];
    await open(first);
    await addProject(first);
    await change(first, 'alter table work drop column trace');
    await change(first, "delete from migrations where name = '0126_work_traces'");
    const opened = await Promise.all(sites.map(async (site) => await open(site)));
    assert.deepEqual(
      opened.flatMap(({ applied }) => applied),
      ['0126_work_traces'],
    );
    const copies = sites
      .map(({ data }) => join(data, 'before_upgrade'))
      .filter((folder) => existsSync(folder));
    assert.equal(copies.flatMap((folder) => readdirSync(folder)).length, 1);
  });
});
