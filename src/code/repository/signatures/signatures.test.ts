/** Signatures of commits, by SSH keys and by GPG keys. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type GpgKey, makeGpgKey } from '../../../../test/support/repositories/gpg_keys.ts';
import { gitEnvironment, newWorkTree, repositoryUrl } from '../../../../test/support/repositories/git.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';
import {
  isSignedData,
  parseCertificate,
  parseDetached,
} from '../../../identity/gpg_keys/openpgp/certificate.ts';
import { isSshSignatureOf, parseSshSignature } from './verify_ssh.ts';

let gantry: TestService;
let folder: string;
before(async () => {
  gantry = await startTestService();
  folder = mkdtempSync(join(tmpdir(), 'gantry-signatures-'));
});
after(async () => {
  await gantry.close();
  rmSync(folder, { recursive: true, force: true });
});

const hasKeygen = (() => {
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== 'ENOENT';
  }
})();
const skip = hasKeygen ? false : 'ssh-keygen is not installed';

const newKey = (...type: string[]): { file: string; text: string } => {
  const file = join(folder, unique('key'));
  execFileSync('ssh-keygen', ['-q', '-N', '', '-f', file, '-t', ...type]);
  return { file, text: readFileSync(`${file}.pub`, 'utf8').trim() };
};

const sign = (file: string, content: string, namespace = 'git'): string => {
  const signature = execFileSync('ssh-keygen', ['-Y', 'sign', '-n', namespace, '-f', file], {
    input: content,
  });
  return signature.toString();
};

test('accepts what ssh-keygen signs with keys of every type, and nothing else', { skip }, () => {
  const types = [
    ['ed25519'],
    ['rsa', '-b', '2048'],
    ['ecdsa', '-b', '256'],
    ['ecdsa', '-b', '384'],
    ['ecdsa', '-b', '521'],
  ];
  for (const type of types) {
    const { file } = newKey(...type);
    const signed = parseSshSignature(sign(file, 'content'));
    assert.ok(signed !== null, type.join());
    assert.equal(isSshSignatureOf(signed, Buffer.from('content')), true, type.join());
    assert.equal(isSshSignatureOf(signed, Buffer.from('contents')), false);
    const other = parseSshSignature(sign(newKey(...type).file, 'content'));
    assert.equal(
      isSshSignatureOf({ ...signed, key: other?.key ?? signed.key }, Buffer.from('content')),
      false,
    );
    const elsewhere = parseSshSignature(sign(file, 'content', 'file'));
    assert.ok(elsewhere !== null);
    assert.equal(isSshSignatureOf(elsewhere, Buffer.from('content')), false, 'signed for something else');
    assert.equal(isSshSignatureOf({ ...elsewhere, namespace: 'git' }, Buffer.from('content')), false);
  }
});

test('parses no other texts', () => {
  const wrap = (bytes: Buffer): string =>
    `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----`;
  const cut = Buffer.from('SSHSIG\0\0\0\u0001\0\0\u00ff\u00ff', 'latin1');
  for (const text of ['', 'x', wrap(Buffer.from('x')), wrap(cut), wrap(Buffer.alloc(100))])
    assert.equal(parseSshSignature(text), null);
});

test('commits are verified by the key of the committer', { skip }, async () => {
  const user = await seedUser(gantry);
  const [project, tree] = [await seedProject(gantry), await newWorkTree()];
  const { file, text } = newKey('ed25519');
  const path = `/projects/${project.id}`;
  const commit = async (name: string, email: string, ...more: string[]): Promise<string> => {
    execFileSync(
      'git',
      [
        '-c',
        'gpg.format=ssh',
        '-c',
        `user.signingkey=${file}`,
        '-c',
        `user.email=${email}`,
        '-c',
        'user.name=A',
        'commit',
        '--allow-empty',
        '-q',
        '-m',
        name,
        ...more,
      ],
      {
        cwd: tree.path,
        env: { ...gitEnvironment(), GIT_COMMITTER_EMAIL: email, GIT_AUTHOR_EMAIL: email },
      },
    );
    return (await tree.git('rev-parse', 'HEAD')).trim();
  };
  const email = `${user.username}@example.com`;
  const [plain, signed, foreign] = [
    await commit('Plain', email, '--no-gpg-sign'),
    await commit('Signed\n\nwith a text', email, '-S'),
    await commit('Of another', 'other@example.com', '-S'),
  ];
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, project.full_path, rootToken), 'HEAD:main');
  await tree.remove();
  const read = async (sha: string, as: string | null = user.token) =>
    await gantry.api(`GET ${path}/repository/commits/${sha}/signature`, { as });
  assert.equal((await read(plain)).status, 404);
  const unknown = await read(signed);
  assert.deepEqual(
    [unknown.status, unknown.body],
    [200, { signature_type: 'SSH', verification_status: 'unknown_key', key: null, commit_source: 'gitaly' }],
  );
  const added = await gantry.api('POST /user/keys', { as: user.token, json: { title: 'Laptop', key: text } });
  assert.equal(added.status, 201, added.text);
  const verified = (await read(signed)).body;
  assert.deepEqual(
    [verified.verification_status, verified.key.id, verified.key.title],
    ['verified', added.body.id, 'Laptop'],
  );
  assert.equal((await read(signed, null)).body.key, null);
  assert.equal((await read(foreign)).body.verification_status, 'unverified');
  const visitor = openVisitor(gantry);
  const page = async (sha: string): Promise<string> =>
    (await visitor.get(`/${project.full_path}/commit/${sha}`)).text;
  assert.match(await page(signed), /> Verified<\/span>/);
  assert.match(await page(foreign), /> Unverified<\/span>/);
  assert.doesNotMatch(await page(plain), /erified<\/span>/);
  // Lists show it, too.
  for (const [name, ref] of Object.entries({ v1: signed, v2: plain }))
    await gantry.api(`POST ${path}/repository/tags?tag_name=${name}&ref=${ref}`);
  const root = `/${project.full_path}`;
  for (const address of [`${root}/-/commits/main`, `${root}/compare/${plain}...main`]) {
    const items = (await visitor.get(address)).text.split('<li>');
    const shown = (sha: string): string | undefined =>
      /> (\w+)<\/span>/.exec(items.find((item) => item.includes(`data-copy="${sha}"`)) ?? '')?.[1];
    assert.deepEqual([shown(signed), shown(foreign)], ['Verified', 'Unverified'], address);
    assert.equal(shown(plain), undefined);
  }
  const tags = (await visitor.get(`${root}/-/tags`)).text;
  assert.match(tags, /> Verified<\/span>/);
  assert.equal(tags.split(' Verified</span>').length, 2);
  await gantry.api(`POST ${path}/repository/branches?branch=base&ref=${plain}`);
  const { body: request } = await gantry.api(`POST ${path}/merge_requests`, {
    json: { source_branch: 'main', target_branch: 'base', title: 'Signed commits' },
  });
  await settle(gantry);
  const listed = (await visitor.get(`${root}/merge_requests/${request.iid}/commits`)).text;
  assert.equal(listed.split(' Verified</span>').length, 2);
  assert.equal(listed.split(' Unverified</span>').length, 2);
  await gantry.api(`DELETE /user/keys/${added.body.id}`, { as: user.token });
  assert.equal((await read(signed)).body.verification_status, 'unknown_key');
});

test('annotated tags are verified by the key of the tagger', { skip }, async () => {
  const user = await seedUser(gantry);
  const [project, tree] = [await seedProject(gantry), await newWorkTree()];
  const { file, text } = newKey('ed25519');
  const email = `${user.username}@example.com`;
  await tree.commit('First', {});
  const tag = (name: string, by: string, ...more: string[]): void => {
    const settings = ['gpg.format=ssh', `user.signingkey=${file}`, `user.email=${by}`, 'user.name=A'];
    const args = [...settings.flatMap((one) => ['-c', one]), 'tag', '-m', `About ${name}`, ...more, name];
    execFileSync('git', args, {
      cwd: tree.path,
      env: { ...gitEnvironment(), GIT_COMMITTER_EMAIL: by, GIT_AUTHOR_EMAIL: by },
    });
  };
  tag('own', email, '-s');
  tag('foreign', 'other@example.com', '-s');
  tag('plain', email, '-a', '--no-sign');
  // What was changed after it was signed.
  const signed = await tree.git('cat-file', 'tag', 'own');
  const changed = join(tree.path, 'changed');
  writeFileSync(changed, `${signed.replace('About own', 'About less').trimEnd()}\n`);
  const id = (await tree.git('hash-object', '-t', 'tag', '-w', changed)).trim();
  await tree.git('update-ref', 'refs/tags/changed', id);
  const address = repositoryUrl(gantry.url, project.full_path, rootToken);
  await tree.git('push', '--quiet', address, 'HEAD:main', '--tags');
  await tree.remove();
  await settle(gantry);
  const added = await gantry.api('POST /user/keys', { as: user.token, json: { title: 'Laptop', key: text } });
  assert.equal(added.status, 201, added.text);
  const read = async (name: string) =>
    await gantry.api(`GET /projects/${project.id}/repository/tags/${name}/signature`);
  const { key, ...own } = (await read('own')).body;
  assert.deepEqual(own, { signature_type: 'SSH', verification_status: 'verified' });
  assert.equal(key.id, added.body.id);
  assert.equal((await read('foreign')).body.verification_status, 'unverified');
  const plain = await read('plain');
  assert.deepEqual([plain.status, plain.body], [404, { message: '404 Signature Not Found' }]);
  assert.equal((await read('missing')).status, 404);
  const visitor = openVisitor(gantry);
  const root = `/${project.full_path}/-/tags`;
  const badge = (shown: string): string | undefined => /> (Verified|Unverified)<\/span>/.exec(shown)?.[1];
  const expected = { own: 'Verified', foreign: 'Unverified', changed: 'Unverified', plain: undefined };
  const items = (await visitor.get(root)).text.split('<li>');
  for (const [name, status] of Object.entries(expected)) {
    const item = items.find((one) => one.includes(`/tags/${name}"`)) ?? '';
    assert.equal(badge(item), status, name);
    const page = (await visitor.get(`${root}/${name}`)).text;
    assert.equal(badge(page), status, name);
    assert.match(page, /<div class="body lines">About \w+<\/div>/);
    assert.doesNotMatch(page, /BEGIN SSH SIGNATURE/);
  }
});

test('OpenPGP signatures are verified by the keys of users', async () => {
  const [user, other] = [await seedUser(gantry), await seedUser(gantry)];
  const [project, tree] = [await seedProject(gantry), await newWorkTree()];
  const email = `${user.username}@example.com`;
  const commit = async (
    key: GpgKey | null,
    of: string,
    content?: (text: string) => string,
  ): Promise<string> => {
    const base = await tree.git(
      'commit-tree',
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
      '-m',
      unique('Made'),
    );
    const text = await tree.git('cat-file', 'commit', base.trim());
    const raw = `${text.trimEnd()}\n`.replace(/<[^>]*>/g, `<${of}>`);
    const signature = key
      ?.sign(content?.(raw) ?? raw)
      .trimEnd()
      .replaceAll('\n', '\n ');
    const signed = signature === undefined ? raw : raw.replace('\n\n', `\ngpgsig ${signature}\n\n`);
    const file = join(tree.path, 'commit');
    writeFileSync(file, signed);
    return (await tree.git('hash-object', '-t', 'commit', '-w', file)).trim();
  };
  await tree.git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const read = async (sha: string, as: string | null = user.token) =>
    (await gantry.api(`GET /projects/${project.id}/repository/commits/${sha}/signature`, { as })).body;
  const statusOf = async (sha: string): Promise<string> => (await read(sha)).verification_status;
  const [own, foreign] = [
    makeGpgKey(email, { more: ['second@example.com'] }),
    makeGpgKey('nobody@example.com'),
  ];
  const short = makeGpgKey(email, { lifetime: 50 });
  const [signed, altered, second, stranger, late, plain] = [
    await commit(own, email),
    await commit(own, email, (text) => `${text}!`),
    await commit(own, 'second@example.com'),
    await commit(foreign, email),
    await commit(short, email),
    await commit(null, email),
  ];
  const all = [signed, altered, second, stranger, late, plain].map((sha, at) => `${sha}:refs/heads/b${at}`);
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, project.full_path, rootToken), ...all);
  await tree.remove();
  const none = await gantry.api(`GET /projects/${project.id}/repository/commits/${plain}/signature`);
  assert.equal(none.status, 404);
  assert.equal(await statusOf(signed), 'unknown_key');
  const add = async (key: GpgKey, as: string): Promise<number> => {
    const { status, body, text } = await gantry.api('POST /user/gpg_keys', { as, json: { key: key.text } });
    assert.equal(status, 201, text);
    return body.id;
  };
  const id = await add(own, user.token);
  await add(short, user.token);
  await add(foreign, other.token);
  assert.deepEqual(await read(signed), {
    signature_type: 'PGP',
    verification_status: 'verified',
    gpg_key_id: id,
    gpg_key_primary_keyid: own.fingerprint.slice(-16),
    gpg_key_user_name: 'Somebody',
    gpg_key_user_email: email,
    gpg_key_subkey_id: null,
    commit_source: 'gitaly',
  });
  assert.deepEqual(
    [await statusOf(altered), await statusOf(second), await statusOf(stranger), await statusOf(late)],
    ['unverified', 'other_user', 'unverified_key', 'unverified'],
  );
  // A further address counts from when it is confirmed.
  const further = { email: 'second@example.com' };
  const pending = await gantry.api('POST /user/emails', { as: user.token, json: further });
  assert.deepEqual([pending.status, await statusOf(second)], [201, 'other_user']);
  await gantry.api(`DELETE /user/emails/${pending.body.id}`, { as: user.token });
  const confirmed = { ...further, skip_confirmation: true };
  await gantry.api(`POST /users/${user.id}/emails`, { json: confirmed });
  assert.equal(await statusOf(second), 'verified');
  const anonymous = await read(signed, null);
  assert.deepEqual([anonymous.verification_status, anonymous.gpg_key_user_email], ['verified', null]);
  const page = (await openVisitor(gantry).get(`/${project.full_path}/commit/${signed}`)).text;
  assert.match(page, /> Verified<\/span>/);
  await gantry.api(`POST /user/gpg_keys/${id}/revoke`, { as: user.token });
  assert.equal(await statusOf(signed), 'unknown_key');
});

const hasGpg = (() => {
  try {
    execFileSync('gpg', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test(
  'accepts the keys and signatures of gpg, of every kind',
  { skip: hasGpg ? false : 'gpg is not installed' },
  () => {
    const home = join(folder, 'gpg');
    mkdirSync(home, { mode: 0o700 });
    const content = join(home, 'content');
    writeFileSync(content, 'content');
    const gpg = (...args: string[]): string =>
      execFileSync(
        'gpg',
        ['--homedir', home, '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '', ...args],
        { stdio: ['ignore', 'pipe', 'ignore'] },
      ).toString();
    try {
      for (const kind of ['ed25519', 'rsa2048', 'nistp256', 'nistp521']) {
        const email = `${kind}@example.com`;
        gpg('--quick-gen-key', `A Person <${email}>`, kind, 'cert', '0');
        const [, primary = ''] = /^fpr:+([0-9A-F]+):/m.exec(gpg('--with-colons', '--list-keys', email)) ?? [];
        gpg('--quick-add-key', primary, kind.startsWith('nist') ? `${kind}/ecdsa` : kind, 'sign', '1y');
        const certificate = parseCertificate(gpg('--armor', '--export', email));
        assert.deepEqual(certificate?.users, [{ name: 'A Person', email }], kind);
        const detached = parseDetached(
          gpg('--armor', '--output', '-', '-u', email, '--detach-sign', content),
        );
        assert.ok(detached !== null && detached !== 'several');
        const [subkey, ...more] = certificate?.signing ?? [];
        assert.ok(subkey !== undefined && more.length === 0, 'the primary key only certifies');
        assert.equal(subkey.key.keyid, detached.signature.issuer);
        assert.equal(isSignedData(detached.signature, subkey, Buffer.from('content')), true, kind);
        assert.equal(isSignedData(detached.signature, subkey, Buffer.from('contents')), false);
      }
    } finally {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    }
  },
);
