/** `npm run dev` and `npm run seed` from the command line. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'gantry-dev-'));
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

const start = (tool: string, args: string[]) => {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^GANTRY_|^NODE_(?!COMPILE_CACHE)/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), GANTRY_RUNNER_EXECUTOR: 'none' };
  const program = [join(root, `tools/${tool}.ts`), ...args];
  const child = spawn(process.execPath, program, { cwd: root, env });
  children.push(child);
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void (printed.text += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  /** Resolves with the match once the output contains it. */
  const matching = async (pattern: RegExp): Promise<string> => {
    const isOver = ended.then(() => true);
    while (!pattern.test(printed.text)) {
      const pause = new Promise<false>((resolve) => setTimeout(() => resolve(false), 20));
      const over = await Promise.race([isOver, pause]);
      if (over && !pattern.test(printed.text)) throw new Error(`it ended: ${printed.text}`);
    }
    return pattern.exec(printed.text)?.[1] ?? '';
  };
  return { child, printed, ended, matching };
};

const titles = async (url: string, token: string): Promise<string[]> => {
  const headers = { 'private-token': token };
  const response = await fetch(`${url}/api/v4/projects/workshop%2Fbridge/issues?sort=asc`, { headers });
  assert.equal(response.status, 200);
  return ((await response.json()) as { title: string }[]).map(({ title }) => title);
};

const seeded = ['The third plank creaks', 'Add handrails', 'Paint the posts'];

test('dev serves seeded data with readable logs, from a folder that is removed at the end', async () => {
  const dev = start('dev', ['--listen', '127.0.0.1:0']);
  const folder = await dev.matching(/^Data: (.*)\. The service restarts/m);
  const url = await dev.matching(/listening url=(http:\S+)/);
  const token = await dev.matching(/Administrator: root, with the same password; token: (\S+)/);
  assert.ok(folder.startsWith(join(root, 'data-dev/run-')) && existsSync(folder), folder);
  assert.deepEqual(await titles(url, token), seeded);
  await dev.matching(
    /^(\d\d:\d\d:\d\d\.\d{3} info {2}200 GET \/api\/v4\/projects\/workshop%2Fbridge\/issues) /m,
  );
  const again = start('seed', ['--url', url, `--token=${token}`]);
  assert.equal(await again.ended, 0, again.printed.text);
  assert.match(again.printed.text, /^Created: nothing\.\nAlready there: 3 users, /m);
  dev.child.kill('SIGTERM');
  assert.equal(await dev.ended, 0);
  assert.equal(existsSync(folder), false);
});

test('seed fills a new folder, and reports existing data when run again', async () => {
  const data = join(home, 'seeded');
  const first = start('seed', ['--data', data, '--password', 'planks and posts']);
  assert.equal(await first.ended, 0, first.printed.text);
  assert.match(first.printed.text, /^Created: 3 users, 2 groups, /m);
  assert.match(first.printed.text, /password {2}planks and posts\n/);
  const second = start('seed', ['--data', data]);
  assert.equal(await second.ended, 0, second.printed.text);
  assert.match(second.printed.text, /^Created: nothing\.\nAlready there: 3 users, /m);
});

test('dev exits with the cause when the service does not start', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dev = start('dev', ['--listen', `127.0.0.1:${port}`]);
  assert.equal(await dev.ended, 1, dev.printed.text);
  server.close();
  assert.match(dev.printed.text, /cannot listen on/);
});

test('both refuse unknown options, and seed also requires one', async () => {
  for (const [tool, args] of [
    ['dev', ['--prot', '1']],
    ['seed', ['--prot', '1']],
    ['seed', []],
  ] as const) {
    const { ended, printed } = start(tool, [...args]);
    assert.equal(await ended, 2, printed.text);
  }
});
