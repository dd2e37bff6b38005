/** Signatures of commits that git and ssh-keygen made. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gitEnvironment, newWorkTree, repositoryUrl } from '../../../../test/support/repositories/git.ts';
import { seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';
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
  await gantry.api(`DELETE /user/keys/${added.body.id}`, { as: user.token });
  assert.equal((await read(signed)).body.verification_status, 'unknown_key');
});
