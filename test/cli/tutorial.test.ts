/** The commands of docs/tutorial.md, as they stand, against a service with its built-in runner. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Place, type Running, newPlace } from './gantry.ts';

const token = 'token-of-the-tutorial';
const text = readFileSync(join(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');
const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, code = '']) => code);

let place: Place;
let service: Running;
let home: string;
before(async () => {
  place = newPlace();
  home = mkdtempSync(join(tmpdir(), 'gantry-tutorial-'));
  const env = { GANTRY_ROOT_TOKEN: token, GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_RUNNER_CONCURRENCY: '2' };
  service = await place.serve('serve', { env });
});
after(async () => {
  await place.remove();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the script as one shell; a command that fails ends it. */
const run = async (script: string): Promise<{ code: number | null; output: string }> => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
  const child = spawn('bash', ['-euo', 'pipefail', '-x', '-c', script], { cwd: home, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => void (output += part));
  const [code] = await once(child, 'close');
  return { code: code as number | null, output };
};

test('its commands lead to a green pipeline and a merged request', async () => {
  assert.ok(blocks.length >= 8);
  const script = blocks
    .join('\n')
    .replaceAll('127.0.0.1:8080', new URL(service.url).host)
    .replace('glpat-of-your-own', token);
  const { code, output } = await run(script);
  assert.equal(code, 0, output.slice(-3000));
  const headers = { 'private-token': token };
  const project = `${service.url}/api/v4/projects/root%2Fbridge`;
  const read = async (path: string) => await (await fetch(`${project}${path}`, { headers })).json();
  const [pipeline] = (await read('/pipelines?ref=main&order_by=id&sort=asc')) as { status: string }[];
  assert.equal(pipeline?.status, 'success');
  assert.equal(((await read('/merge_requests/1')) as { state: string }).state, 'merged');
  assert.match(output, /laid by root\/bridge/, 'the log of a job');
});
