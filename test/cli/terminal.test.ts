/** What people see who start the service in a terminal, which `script` of util-linux makes. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { after, test } from 'node:test';
import { newPlace } from './gantry.ts';

const root = join(import.meta.dirname, '../..');
const place = newPlace();
after(async () => await place.remove());

const hasTerminal = spawnSync('script', ['--version']).status === 0;

test(
  'prints readable, coloured lines, and the address once',
  { skip: !hasTerminal && 'no script' },
  async () => {
    const inherited = Object.entries(process.env).filter(([name]) => !/^GANTRY_|^NODE_|COLOR/.test(name));
    const env = { ...Object.fromEntries(inherited), ...place.env, TERM: 'xterm' };
    // A shell that stays would end by the signal, too, and hide how the service ended.
    const command = `exec '${process.execPath}' bin/gantry serve`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: root, env });
    let output = '';
    const listening = Promise.withResolvers<void>();
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (output.includes('listening')) listening.resolve();
    });
    const closed = once(child, 'close');
    void closed.then(() => listening.resolve());
    await listening.promise;
    // Control-C.
    child.stdin.write('\u0003');
    const [code] = await closed;
    assert.equal(code, 0, output);
    const text = stripVTControlCharacters(output).replaceAll('\r', '');
    assert.equal(text.match(/https?:/g)?.length, 1, output);
    assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} info {2}listening url=http:\/\/127\.0\.0\.1:\d+/m);
    assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} info {2}stopped/m);
    assert.doesNotMatch(output, /\{"level"/);
    assert.notEqual(output.replaceAll('\r', ''), text, 'in color');
  },
);
