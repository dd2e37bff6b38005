/** The samples of `deploy/`: settings, files and metrics that they name exist, and their own programs accept them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { configNames, fields } from '../../src/platform/config/fields.ts';
import { version } from '../../src/platform/version.ts';
import { listUnbundledPackages } from '../../tools/copy_unbundled_packages.ts';
import { instructions, keptPatterns, restsOf, root } from './dockerfile.ts';

const read = (file: string): string => readFileSync(join(root, 'deploy', file), 'utf8');
const home = mkdtempSync(join(tmpdir(), 'gantry-deploy-'));
after(() => rmSync(home, { recursive: true }));

const hasProgram = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
const missing = (...names: string[]): string | false => {
  const absent = names.filter((name) => !hasProgram(name));
  return absent.length > 0 && `${absent.join(', ')} not installed`;
};

/** Runs a program that checks a file, and asserts that it accepts it. */
const accepts = (program: string, args: string[]): void => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: home });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
};

it('name only settings that exist', () => {
  const known = new Set(configNames.map((name) => fields[name].variable));
  const files = globSync('deploy/**/*', { cwd: root }).filter((file) => statSync(join(root, file)).isFile());
  assert.ok(files.length > 8);
  const unknown = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bGANTRY_[A-Z0-9_]+\b/g)]
      .map(([name]) => name)
      .filter((name) => !known.has(name.replace(/_FILE$/, '')) && !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

/** Megabytes of a file or folder of the clone. */
const megabytes = (path: string): number => {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return Math.ceil(stat.size / 4096) * 0.004096;
  return readdirSync(join(root, path)).reduce((sum, name) => sum + megabytes(join(path, name)), 0.004);
};

describe('the Dockerfile', () => {
  it('uses known instructions and pinned images, in two stages', () => {
    const known =
      'ARG FROM WORKDIR COPY RUN LABEL ENV USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD'.split(
        ' ',
      );
    const unknown = instructions.filter(({ name }) => !known.includes(name));
    // The health check's command is a line of its own once its continuation is joined.
    assert.deepEqual(unknown, []);
    const images = restsOf('FROM');
    assert.equal(images.length, 2);
    for (const image of images) assert.match(image, /^[\w./-]+:\S+/);
    for (const image of images) assert.doesNotMatch(image, /:latest\b/);
  });

  it('has the Node of the package, and says its version and commit', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    assert.ok(restsOf('ARG').includes(`NODE_VERSION=${dependencies['node']}`));
    const [labels = ''] = restsOf('LABEL');
    assert.match(labels, new RegExp(`image.version="${version.replaceAll('.', String.raw`\.`)}"`));
    assert.match(labels, /image\.revision="\$REVISION"/);
    // `read_revision.ts` reads it there. An argument counts only after its ARG, in the same stage.
    const names = instructions.map(({ name, rest }) => `${name} ${rest}`);
    const argument = names.indexOf('ARG REVISION=unknown');
    assert.ok(argument > names.findLastIndex((line) => line.startsWith('FROM ')));
    assert.ok(names.indexOf('RUN echo "$REVISION" > /opt/gantry/REVISION') > argument);
  });

  it('runs as a numbered user, with a health check and the form of commands that passes signals on', () => {
    assert.match(restsOf('USER').at(-1) ?? '', /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(restsOf('HEALTHCHECK').length, 1);
    for (const command of [...restsOf('ENTRYPOINT'), ...restsOf('CMD')])
      assert.ok(Array.isArray(JSON.parse(command)), command);
    const names = instructions.map(({ name }) => name);
    assert.ok(names.lastIndexOf('USER') > names.lastIndexOf('RUN'));
  });

  it('keeps no caches, escalates nothing, and fetches nothing past the package managers', () => {
    for (const command of restsOf('RUN')) {
      assert.doesNotMatch(command, /\b(?:sudo|curl|wget)\b|chmod (?:-R )?777/);
      if (command.includes('apk add')) assert.match(command, /apk add --no-cache/);
    }
  });

  it('copies what exists, and nothing that its ignore file leaves out', () => {
    const kept = keptPatterns.map((pattern) => pattern.replace(/\/\*.*/, ''));
    for (const path of kept) assert.ok(existsSync(join(root, path)), path);
    const built = ['kept/node_modules', 'dist'];
    const copied = restsOf('COPY')
      .filter((rest) => rest.includes('--from=build /build/'))
      .flatMap((rest) => rest.split(/\s+/).filter((word) => word.startsWith('/build/')));
    assert.ok(copied.length > 5);
    for (const path of copied.map((one) => one.slice('/build/'.length)))
      assert.ok(built.includes(path) || kept.includes(path), path);
  });

  it('makes an image below 250 MB, by the sizes of its parts', () => {
    const own = ['dist', 'docs', 'templates', 'bin', ...listUnbundledPackages()];
    const ofUs = own.reduce((sum, path) => sum + megabytes(path), 0);
    const ofNode = megabytes('node_modules/node/bin/node');
    // Measured in alpine: the base, git with its libraries, libstdc++ with libgcc, tini.
    const others = 9 + 26 + 3.5 + 0.1;
    assert.ok(ofUs > 5 && ofNode > 80);
    const sum = ofUs + ofNode + others;
    assert.ok(
      sum < 250,
      `${Math.round(sum)} MB, of which ${Math.round(ofUs)} are ours and ${Math.round(ofNode)} Node`,
    );
  });

  it('hadolint finds no error', { skip: missing('hadolint') }, () => {
    accepts('hadolint', ['--failure-threshold', 'error', join(root, 'deploy/Dockerfile')]);
  });

  const builder = ['docker', 'podman'].find(
    (name) => spawnSync(name, ['info'], { timeout: 10_000, stdio: 'ignore' }).status === 0,
  );
  const skip = builder === undefined && 'no builder answers';
  it('builds, and a container becomes healthy', { skip, timeout: 600_000 }, async () => {
    const revision = 'c0ffee'.repeat(7).slice(0, 40);
    const run = (...args: string[]): string => {
      const { status, stdout, stderr } = spawnSync(builder ?? '', args, { cwd: root, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      return stdout.trim();
    };
    // Without this format, podman leaves the health check out.
    const format = builder === 'podman' ? ['--format', 'docker'] : [];
    const argument = ['--build-arg', `REVISION=${revision}`];
    const image = run('build', '-q', ...format, '-f', 'deploy/Dockerfile', ...argument, '.');
    assert.match(run('run', '--rm', image, 'version'), new RegExp(revision.slice(0, 11)));
    assert.ok(Number(run('image', 'inspect', '--format', '{{.Size}}', image)) < 250e6);
    const options = ['--rm', '-d', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'];
    const container = run('run', ...options, '-p', '127.0.0.1::8080', image);
    try {
      while (run('inspect', '--format', '{{.State.Health.Status}}', container) !== 'healthy')
        await pause(500);
      const [address] = run('port', container, '8080').split('\n');
      assert.equal((await fetch(`http://${address}/help/installation`)).status, 200);
    } finally {
      run('stop', container);
    }
  });
});

type Service = {
  image: string;
  command?: string[];
  environment?: Record<string, unknown>;
  volumes?: string[];
  restart?: string;
  logging?: { options: Record<string, string> };
  env_file?: unknown;
  depends_on?: string[] | Record<string, unknown>;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> };

describe('compose files', () => {
  for (const file of ['compose.yml', 'compose.cluster.yml']) {
    const compose = parse(read(file), { merge: true }) as Compose;
    const services = Object.values(compose.services);

    it(`${file} pins images, ours to this version`, () => {
      for (const { image } of services) {
        assert.match(image, /:[\w.-]*\d/);
        if (image.startsWith('gantry:')) assert.equal(image, `gantry:${version}`);
      }
    });

    it(`${file} bounds the logs of all that keeps running, and lets settings be added beside it`, () => {
      const running = services.filter(({ restart }) => restart === 'unless-stopped');
      assert.ok(running.length > 0);
      for (const { image, logging } of running)
        assert.match(`${logging?.options['max-size']} ${logging?.options['max-file']}`, /^\d+m \d+$/, image);
      assert.match(JSON.stringify(services.map(({ env_file }) => env_file ?? null)), /"\.env"/);
      assert.match(readFileSync(join(root, '.gitignore'), 'utf8'), /^\/deploy\/\.env$/m);
    });

    it(`${file} declares the volumes and services that it names`, () => {
      for (const { volumes = [], depends_on = [] } of services) {
        for (const volume of volumes) {
          const [source = ''] = volume.replace(/^\$\{\w+:-(.*?)\}/, '$1').split(':');
          const exists = source.startsWith('./')
            ? existsSync(join(root, 'deploy', source))
            : source in compose.volumes;
          assert.ok(exists, volume);
        }
        const needs = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
        for (const name of needs) assert.ok(name in compose.services, name);
      }
    });
  }

  const hasCompose = spawnSync('docker', ['compose', 'version'], { timeout: 10_000 }).status === 0;
  for (const file of ['compose.yml', 'compose.cluster.yml'])
    it(`docker compose accepts ${file}`, { skip: !hasCompose && 'docker compose not installed' }, () => {
      // It asks for the variables that have no default, and for files of secrets.
      const names = new Set([...read(file).matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name));
      writeFileSync(join(home, 'env'), [...names].map((name) => `${name}=x1234567\n`).join(''));
      const path = join(root, 'deploy', file);
      accepts('docker', ['compose', '-f', path, '--env-file', join(home, 'env'), 'config', '--quiet']);
    });

  it('the one service keeps backups in a volume that its user may write', () => {
    const { services } = parse(read('compose.yml')) as Compose;
    const { environment, volumes } = services['gantry'] ?? assert.fail();
    const place = /:-(.*)\}$/.exec(String(environment?.['GANTRY_BACKUP_TO']))?.[1] ?? '';
    assert.ok(volumes?.some((volume) => volume.endsWith(`:${place}`)));
    assert.match(
      read('Dockerfile'),
      new RegExp(`install -d -o gantry -g gantry -m 0700 .* ?${place}( |$)`, 'm'),
    );
  });

  it('the cluster keeps backups in a bucket that it makes, which any of the services reaches', () => {
    const { services } = parse(read('compose.cluster.yml'), { merge: true }) as Compose;
    const { environment = {} } = services['gantry-1'] ?? assert.fail();
    const [, bucket = ''] = /:-s3:\/\/(\w+)\/\w+\}$/.exec(String(environment['GANTRY_BACKUP_TO'])) ?? [];
    assert.notEqual(bucket, environment['GANTRY_BLOB_S3_BUCKET']);
    assert.ok(services['bucket']?.command?.includes(`s3/${bucket}`), bucket);
  });

  it('the cluster has three services with everything else in common', () => {
    const { services } = parse(read('compose.cluster.yml'), { merge: true }) as Compose;
    const three = Object.entries(services).filter(([name]) => name.startsWith('gantry-'));
    assert.equal(three.length, 3);
    assert.equal(new Set(three.map(([, { environment }]) => JSON.stringify(environment))).size, 1);
    assert.equal(new Set(three.map(([, { volumes }]) => volumes?.[0])).size, 3);
  });
});

describe('the storages of the cluster', () => {
  const { services } = parse(read('compose.cluster.yml'), { merge: true }) as Compose;
  const storages = Object.entries(services).filter(([name]) => name.startsWith('gitd-'));

  it('are two, each encrypted, with a volume of its own, and named by the services', () => {
    assert.equal(storages.length, 2);
    const addresses = services['gantry-1']?.environment?.['GANTRY_REPOSITORY_STORAGES'];
    assert.equal(addresses, 'default=tls://gitd-1:9060,second=tls://gitd-2:9060');
    for (const [name, { command = [] }] of storages)
      for (const file of [`/certificates/${name}.crt`, `/certificates/${name}.key`])
        assert.ok(command.includes(file), file);
    assert.equal(new Set(storages.map(([, { volumes }]) => volumes?.[0])).size, 2);
  });

  const isRoot = process.getuid?.() === 0;
  const skip = missing('openssl') || (!isRoot && 'only root gives keys to another user');
  it('get certificates that name them, once', { skip }, () => {
    const [shell = '', flag = '', script = ''] = services['certificates']?.command ?? [];
    const folder = join(home, 'certificates');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    mkdirSync(join(home, 'authority'));
    writeFileSync(join(folder, 'bin/apk'), '#!/bin/sh\necho "$@" >> installed\n', { mode: 0o755 });
    const env = { PATH: `${folder}/bin:${process.env['PATH']}` };
    const run = (): void => {
      const { status, stderr } = spawnSync(
        shell,
        [flag, script.replaceAll('$$', '$').replaceAll('/authority', join(home, 'authority'))],
        {
          cwd: folder,
          env,
          encoding: 'utf8',
        },
      );
      assert.equal(status, 0, stderr);
    };
    run();
    for (const [name] of storages) {
      const { uid, mode } = statSync(join(folder, `${name}.key`));
      assert.deepEqual([uid, mode & 0o777], [10_001, 0o600]);
      const verify = ['verify', '-CAfile', 'ca.crt', '-verify_hostname', name, `${name}.crt`];
      const { status, stderr } = spawnSync('openssl', verify, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    }
    assert.ok(!existsSync(join(folder, 'ca.key')));
    const before = readFileSync(join(folder, 'gitd-1.crt'));
    // A run that was killed before it gave the key away. Nothing is due, so nothing is installed.
    chownSync(join(folder, 'gitd-1.key'), 0, 0);
    rmSync(join(folder, 'installed'));
    run();
    assert.ok(!existsSync(join(folder, 'installed')));
    assert.equal(statSync(join(folder, 'gitd-1.key')).uid, 10_001);
    utimesSync(join(folder, 'gitd-1.crt'), 0, Date.now() / 1000 - 760 * 86_400);
    run();
    assert.deepEqual(readFileSync(join(folder, 'gitd-1.crt')), before);
    rmSync(join(folder, 'gitd-2.crt'));
    run();
    assert.deepEqual(readFileSync(join(folder, 'gitd-1.crt')), before);
    assert.ok(existsSync(join(folder, 'gitd-2.crt')));
    utimesSync(join(folder, 'gitd-1.crt'), 0, Date.now() / 1000 - 770 * 86_400);
    run();
    assert.notDeepEqual(readFileSync(join(folder, 'gitd-1.crt')), before);
  });
});

describe('proxies', () => {
  it('nginx accepts its sample', { skip: missing('nginx', 'openssl') }, () => {
    const [certificate, key] = [join(home, 'a.pem'), join(home, 'a.key')];
    const subject = ['-subj', '/CN=code.example.com', '-keyout', key, '-out', certificate];
    accepts('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject]);
    const sample = read('proxies/nginx.conf')
      .replace('/etc/ssl/code.example.com.pem', certificate)
      .replace('/etc/ssl/code.example.com.key', key);
    mkdirSync(join(home, 'logs'), { recursive: true });
    writeFileSync(
      join(home, 'nginx.conf'),
      `pid ${home}/pid; error_log ${home}/logs/error.log; events {}\nhttp { access_log off; ${sample} }`,
    );
    accepts('nginx', ['-t', '-q', '-p', home, '-c', join(home, 'nginx.conf')]);
  });

  it('nginx listens on IPv6, too', () => {
    const addresses = [...read('proxies/nginx.conf').matchAll(/^ *listen (?:\[::\]:)?(\d+(?: ssl)?);/gm)];
    assert.deepEqual(
      addresses.map(([, address]) => address),
      ['80', '80', '443 ssl', '443 ssl'],
    );
  });

  it('haproxy accepts its sample', { skip: missing('haproxy') }, () => {
    accepts('haproxy', ['-c', '-q', '-f', join(root, 'deploy/proxies/haproxy.cfg')]);
  });

  it('Caddy accepts its sample', { skip: missing('caddy') }, () => {
    accepts('caddy', [
      'validate',
      '--adapter',
      'caddyfile',
      '--config',
      join(root, 'deploy/proxies/Caddyfile'),
    ]);
  });
});

describe('alert rules', () => {
  it('promtool accepts the alert rules', { skip: missing('promtool') }, () => {
    accepts('promtool', ['check', 'rules', join(root, 'deploy/monitoring/alerts.yml')]);
  });
});

describe('units', { skip: missing('systemd-analyze') }, () => {
  const units = globSync('deploy/systemd/*.{service,timer}', { cwd: root });
  /** The programs that units start need not be installed here. */
  const place = (): string[] =>
    units.map((unit) => {
      const file = join(home, unit.split('/').at(-1) ?? '');
      const text = readFileSync(join(root, unit), 'utf8');
      writeFileSync(
        file,
        text.replaceAll('/usr/local/bin/gantry', '/bin/true').replace(/^Documentation=.*$/m, ''),
      );
      return file;
    });

  it('systemd units have no unknown directive', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...place()], { encoding: 'utf8' });
    const about = stderr.split('\n').filter((line) => line.includes(home));
    assert.deepEqual(
      about.filter((line) => /Unknown|Invalid|Failed to parse|ignoring/i.test(line)),
      [],
    );
  });

  it('let backups be written to the folder that the page of backups names', () => {
    const page = readFileSync(join(root, 'docs/backup.md'), 'utf8');
    const folder = /^GANTRY_BACKUP_TO=(\/\S+)$/m.exec(page)?.[1] ?? '';
    assert.match(page, new RegExp(`^install -d -o gantry -g gantry -m 0700 ${folder}$`, 'm'));
    for (const unit of ['gantry.service', 'gantry-backup.service'])
      assert.match(read(`systemd/${unit}`), new RegExp(`^ReadWritePaths=(?:.* )?-${folder}( |$)`, 'm'), unit);
    // Any other folder needs a drop-in, whose lines systemd knows.
    const [, dropIn = ''] = /^```ini\n(\[Service\]\nReadWritePaths=[^]*?)```/m.exec(page) ?? [];
    const unit = place().find((file) => file.endsWith('/gantry.service')) ?? '';
    mkdirSync(`${unit}.d`, { recursive: true });
    writeFileSync(`${unit}.d/override.conf`, dropIn);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    assert.doesNotMatch(stderr, /override\.conf/);
    assert.match(dropIn, /ReadWritePaths=\//);
  });

  it('the drop-in for port 22 adds its capability and no user namespace, and nothing else', () => {
    const unit = place().find((file) => file.endsWith('/gantry.service')) ?? '';
    const text = read('systemd/ssh-port-22.conf');
    mkdirSync(`${unit}.d`, { recursive: true });
    writeFileSync(`${unit}.d/ssh-port-22.conf`, text);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    assert.doesNotMatch(stderr, /ssh-port-22\.conf/);
    assert.deepEqual(
      text.split('\n').filter((line) => /^\w/.test(line)),
      [
        'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
        'AmbientCapabilities=CAP_NET_BIND_SERVICE',
        'PrivateUsers=no',
      ],
    );
  });

  it('systemd units have a low exposure score', () => {
    const [service = ''] = place().filter((file) => file.endsWith('/gantry.service'));
    accepts('systemd-analyze', ['security', '--offline=yes', '--threshold=20', service]);
  });
});
